// SPDX-License-Identifier: Apache-2.0
//
// How prompts of equal length are cut into iterations of max_tokens_per_iteration tokens.
#pragma once

#include "sim/scenario/scenario.hpp"

namespace roofcast::sim {

// How prompts share iterations with decodes, in the symbols of sim/serving/uniform_closed_loop.hpp.
struct PromptPlan {
  double whole = 1.0;       // k, whole prompts that fit in an iteration
  double iterations = 1.0;  // c, iterations that one prompt needs
  std::int64_t chunk = 0;   // tokens of one prompt in an iteration
  std::int64_t cached = 0;  // tokens before the chunk, mean over its chunks
  double capacity() const { return whole / iterations; }  // k/c, prompts per iteration
};

// `decodes` is the number of tokens that decodes take of the iteration.
PromptPlan plan_of(const ScenarioView& scenario, std::int64_t decodes);

}  // namespace roofcast::sim
