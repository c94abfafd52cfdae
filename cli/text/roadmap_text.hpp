// SPDX-License-Identifier: Apache-2.0
//
// Gains of a roadmap as text, and all its numbers as CSV and JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sim/decide/roadmap.hpp"

namespace roofcast::cli {

// One row for each option and workload and one for its portfolio, the base first, then one for each feature.
void write_roadmap_csv(const sim::Roadmap& roadmap, const sim::RoadmapResult& result,
                       const std::string& file);

// {"question", "base", "options": [{"name", "gain", ..., "workloads": [...]}], "features", "order", "pairs"}; null where
// there is no such number.
nlohmann::ordered_json roadmap_json(const sim::Roadmap& roadmap, const sim::RoadmapResult& result);

// "x1.19", and with its 90 % interval "x1.19 (x1.15 to x1.22)"; "-" where there is none.
std::string gain_text(double gain);
std::string interval_text(const sim::Gain& gain);  // "x1.15 to x1.22"
std::string gain_text(const sim::Gain& gain);

}  // namespace roofcast::cli
