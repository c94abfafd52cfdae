// SPDX-License-Identifier: Apache-2.0
//
// The chips and models of the catalog by the names that tables of measurements use for them (base::id_called).
#pragma once

#include <string>
#include <string_view>

#include "hardware/chip.hpp"
#include "workloads/architecture/architecture.hpp"

namespace roofcast::calibrate {

// nullptr where the catalog knows none that is called so. The same on every call.
const hardware::Chip* chip_called(std::string_view name);
const workloads::Architecture* model_called(std::string_view name);

// The id of the model that a longer name has in it: "meta-llama/Llama-3.1-70B-Instruct" has llama-3.1-70b. Empty where the
// catalog has none.
std::string model_in(std::string_view name);

}  // namespace roofcast::calibrate
