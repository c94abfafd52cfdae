// SPDX-License-Identifier: Apache-2.0
//
// `roofcast compare OPTIONS.yaml`: what the options of a roadmap do for its portfolio (sim/roadmap.hpp).
#pragma once

#include <string>

#include "base/node.hpp"
#include "sim/roadmap.hpp"

namespace roofcast::cli {

// Prints, and writes every number to `csv` and a page of HTML to `report` unless they are empty. Exit code: kInfeasible
// under `strict` when an option cannot run a workload that the base runs.
int compare_roadmap(const base::Node& document, const std::string& csv, const std::string& report,
                    bool strict);

// One row for each option and workload and one for its portfolio, the base first, then one for each feature.
void write_roadmap_csv(const sim::Roadmap& roadmap, const sim::RoadmapResult& result,
                       const std::string& file);

// "x1.19", and with its 90 % interval "x1.19 (x1.15 to x1.22)"; "-" where there is none.
std::string gain_text(double gain);
std::string interval_text(const sim::Gain& gain);  // "x1.15 to x1.22"
std::string gain_text(const sim::Gain& gain);

}  // namespace roofcast::cli
