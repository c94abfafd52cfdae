// SPDX-License-Identifier: Apache-2.0
//
// `roofcast compare OPTIONS.yaml`: what the options of a roadmap do for its portfolio (sim/roadmap/roadmap.hpp).
#pragma once

#include <string>

#include "base/document/node.hpp"
#include "sim/roadmap/roadmap.hpp"

namespace roofcast::cli {

struct CompareRoadmapOptions {
  std::string csv;     // every number; empty: none
  std::string report;  // a page of HTML; empty: none
  bool json = false;
  bool strict = false;
  bool no_replay = false;
};

// Prints. Exit code: kInfeasible under `strict` when an option cannot run a workload that the base runs.
int compare_roadmap(const base::Node& document, const CompareRoadmapOptions& options);

}  // namespace roofcast::cli
