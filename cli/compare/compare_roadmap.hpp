// SPDX-License-Identifier: Apache-2.0
//
// `roofcast compare OPTIONS.yaml`: what the options of a roadmap do for its portfolio (sim/decide/roadmap.hpp).
#pragma once

#include <string>

#include "base/document/node.hpp"
#include "sim/decide/roadmap.hpp"

namespace roofcast::cli {

// Prints, and writes every number to `csv` and a page of HTML to `report` unless they are empty. Exit code: kInfeasible
// under `strict` when an option cannot run a workload that the base runs.
int compare_roadmap(const base::Node& document, const std::string& csv, const std::string& report,
                    bool strict);

}  // namespace roofcast::cli
