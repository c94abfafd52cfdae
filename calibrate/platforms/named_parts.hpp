// SPDX-License-Identifier: Apache-2.0
//
// The chips and models of the catalog by the names that tables of measurements use for them (base::id_called).
#pragma once

#include <string_view>

#include "hardware/chip.hpp"
#include "workloads/architecture/architecture.hpp"

namespace roofcast::calibrate {

// nullptr where the catalog knows none that is called so. The same on every call.
const hardware::Chip* chip_called(std::string_view name);
const workloads::Architecture* model_called(std::string_view name);

}  // namespace roofcast::calibrate
