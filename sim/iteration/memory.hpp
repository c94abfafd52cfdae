// SPDX-License-Identifier: Apache-2.0
//
// Memory of one rank: the fixed part, and the KV cache of a request.
#pragma once

#include <cstdint>

#include "models/footprint.hpp"
#include "sim/scenario/scenario.hpp"

namespace roofcast::sim {

// Of a prefix that a cache finds again, where requests name no blocks.
inline constexpr std::int64_t kPrefixUnitTokens = 64;

// Weights, activations and reserve. The weights of the draft model are included.
models::Footprint footprint_of(const ScenarioView& scenario);

// KV cache of one request on one rank. The cache of the draft model and the draft tokens are included.
struct Cache {
  base::Bytes mean_request;  // at input + output/2 tokens: the mean of a running request
  base::Bytes full_request;  // at its end
};
Cache cache_of(const ScenarioView& scenario);

// Recurrent states of one sequence on one rank: one state, and one more for each draft token.
base::Bytes states_of(const ScenarioView& scenario);
// Keys and values of one sequence of `tokens` on one rank. Those of the draft model are included.
base::Bytes keys_of(double tokens, const ScenarioView& scenario);

}  // namespace roofcast::sim
