// SPDX-License-Identifier: Apache-2.0
//
// What speculative decoding gains, beside an estimate: the same load without it, and the batch from which it gains nothing.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "sim/result/serving_estimate.hpp"
#include "sim/scenario/scenario.hpp"

namespace roofcast::cli {

// Speculative decoding beside the same load without it.
struct Speculation {
  double tpot = 0;  // how many times as fast
  double throughput = 0;
  std::optional<std::int64_t> break_even;
};

// Nothing where the scenario does not draft.
std::optional<Speculation> speculation(const sim::ScenarioView& view,
                                       const sim::ServingEstimate& e);
std::string speculation_text(const workloads::Speculation& s, const Speculation& gain);
void add_speculation(const sim::ScenarioView& view, const sim::ServingEstimate& e,
                     nlohmann::ordered_json& json);

}  // namespace roofcast::cli
