// SPDX-License-Identifier: Apache-2.0
//
// How prompts of one length are cut into passes of max_tokens_per_iteration tokens.
#pragma once

#include "sim/scenario/scenario.hpp"

namespace roofcast::sim {

// How prompts share passes with `decodes` running sequences.
struct PromptPlan {
  double whole = 1.0;                                     // k: prompts a pass can take
  double iterations = 1.0;                                // c: passes one prompt needs
  std::int64_t chunk = 0;                                 // tokens of one prompt in a pass
  std::int64_t cached = 0;                                // tokens before the chunk, on average
  double capacity() const { return whole / iterations; }  // prompts per pass
};

PromptPlan plan_of(const ScenarioView& scenario, std::int64_t decodes);

}  // namespace roofcast::sim
