// SPDX-License-Identifier: Apache-2.0
//
// Gains of a roadmap as text, and all its numbers as CSV and JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/roadmap/roadmap_result.hpp"

namespace roofcast::cli {

// One row for each option and workload and one for its portfolio, the base first, then one for each feature.
void write_roadmap_csv(const sim::Roadmap& roadmap, const sim::RoadmapResult& result,
                       const std::string& file);

// {"question", "base", "options": [{"name", "gain", ..., "workloads": [...]}], "features", "order", "pairs", "notes", "replay_notes"}; null where
// there is no such number.
nlohmann::ordered_json roadmap_json(const sim::Roadmap& roadmap, const sim::RoadmapResult& result);

// "x1.19", and with its 90 % interval "x1.19 (x1.15 to x1.22)"; "-" where there is none.
std::string gain_text(double gain);
std::string interval_text(const sim::Gain& gain);  // "x1.15 to x1.22"
std::string gain_text(const sim::Gain& gain);

// Whether an outcome was replayed, and what the replay says: "confirmed", "estimated only". Of an option: of its points
// and the base's.
std::string replay_text(const sim::Outcome& outcome);
std::string replay_note(const sim::Outcome& outcome);
std::string replay_text(const sim::OptionResult& option, const sim::OptionResult& base);
// "confirmed, x1.2 in the replay"
std::string replayed_text(const sim::OptionResult& option, const sim::OptionResult& base);
// What the replay breaks, and what is estimated only, and why.
std::vector<std::string> replay_notes(const sim::Roadmap& roadmap,
                                      const sim::RoadmapResult& result);

// Where the best of a workload lies on the edge of a list of numbers, so that the list may have ended too early.
std::vector<std::string> edge_notes(const sim::Roadmap& roadmap, const sim::RoadmapResult& result);

// These, and what no gain counts, and why: workloads that the base cannot run or has nothing of, features that do not gain on top of
// those before, and features that set one knob to two values.
std::vector<std::string> portfolio_notes(const sim::Roadmap& roadmap,
                                         const sim::RoadmapResult& result);

// "the next one with the most gain for its area": how the order to fund was made.
std::string order_text(sim::FundBy by);
// ", 60 mm2": what a feature takes of it; empty by the gain alone.
std::string takes_text(sim::FundBy by, double takes);

// For each option whose price is still that of the chip that it replaces or changes: that tokens/$ says so.
std::vector<std::string> price_notes(const sim::RoadmapResult& result);

}  // namespace roofcast::cli
