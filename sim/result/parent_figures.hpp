// SPDX-License-Identifier: Apache-2.0
//
// Figures of a system that are still those of the chip before: its chip was changed or replaced, and nobody gave them since.
// A cost or a power that rests on one is that of another part, so whatever prints a result says it, in the same words.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/prices.hpp"
#include "sim/result/serving_estimate.hpp"

namespace roofcast::sim {

struct ParentFigure {
  std::string_view figure;  // "price", "TDP", "host power"
  std::string key;          // to give it: "system.price.per_gpu_hour"
  std::string_view of;      // the chip before
};

// Those that costs and power at these prices rest on. `key`: where the system is in the scenario.
std::vector<ParentFigure> parent_figures(const hardware::System& system,
                                         const hardware::Prices& prices,
                                         std::string_view key = "system");

// "price and TDP of NVIDIA H200 SXM"; nothing where there are none. Points of a sweep that have the same share the text.
std::shared_ptr<const std::string> parent_figures_of(const ScenarioView& scenario);

// A sentence for each system and chip before: which figures they are, and the keys that set them.
std::vector<std::string> parent_sentences(const ScenarioView& scenario);

}  // namespace roofcast::sim
