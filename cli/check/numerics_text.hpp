// SPDX-License-Identifier: Apache-2.0
//
// What is printed of the rules about number formats (sim/numerics/numerics.hpp).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "sim/numerics/risk.hpp"

namespace roofcast::cli {

// Each rule with its figure; of those at risk the reason, the remedy, its cost and the sources.
std::string numerics_text(std::span<const sim::NumericRisk> rules);
nlohmann::ordered_json numerics_json(std::span<const sim::NumericRisk> rules);

// One line that names the rules at risk; empty if there are none.
std::string numerics_note(std::span<const sim::NumericRisk> rules);

}  // namespace roofcast::cli
