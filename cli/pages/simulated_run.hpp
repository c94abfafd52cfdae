// SPDX-License-Identifier: Apache-2.0
//
// The answer of `roofcast simulate` as a page (cli/pages/simulation_report.hpp).
#pragma once

#include <string>

#include "cli/pages/simulation_report.hpp"
#include "cli/text/simulation_answer.hpp"

namespace roofcast::cli {

// `scenario` is its YAML.
ServedReport report_of(const SimulationAnswer& answer, const std::string& scenario);

}  // namespace roofcast::cli
