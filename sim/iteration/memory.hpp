// SPDX-License-Identifier: Apache-2.0
//
// Memory of one rank: what is fixed, and what the KV cache of a request takes.
#pragma once

#include "models/footprint.hpp"
#include "sim/scenario/scenario.hpp"

namespace roofcast::sim {

// With the weights of the scenario's draft.
models::Footprint footprint_of(const ScenarioView& scenario);

// KV cache of one request on one rank, the draft's and room for the tokens of a draft with it.
struct Cache {
  base::Bytes mean_request;  // at input + output/2 tokens, what a running request holds on average
  base::Bytes full_request;  // at its end
};
Cache cache_of(const ScenarioView& scenario);

// Recurrent states of one sequence on one rank, those that drafted tokens leave with them.
base::Bytes states_of(const ScenarioView& scenario);
// Keys and values of one sequence of so many tokens on one rank, the draft's with them.
base::Bytes keys_of(double tokens, const ScenarioView& scenario);

}  // namespace roofcast::sim
