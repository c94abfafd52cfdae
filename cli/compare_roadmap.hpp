// SPDX-License-Identifier: Apache-2.0
//
// `roofcast compare OPTIONS.yaml`: what the options of a roadmap do for its portfolio (sim/roadmap.hpp).
#pragma once

#include <string>

#include "base/node.hpp"

namespace roofcast::cli {

// Prints, and writes every number to `csv` unless it is empty. Exit code: kInfeasible under `strict` when an option
// cannot run a workload that the base runs.
int compare_roadmap(const base::Node& document, const std::string& csv, bool strict);

}  // namespace roofcast::cli
