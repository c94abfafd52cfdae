// SPDX-License-Identifier: Apache-2.0
//
// Gains of a roadmap as text, and all its numbers as CSV and JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

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

// "the next one with the most gain for its area": how the order to fund was made.
std::string order_text(sim::FundBy by);
// ", 60 mm2": what a feature takes of it; empty by the gain alone.
std::string takes_text(sim::FundBy by, double takes);

// For each option whose price is still that of the chip that it replaces or changes: that tokens/$ says so.
std::vector<std::string> price_notes(const sim::RoadmapResult& result);

}  // namespace roofcast::cli
