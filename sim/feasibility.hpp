// SPDX-License-Identifier: Apache-2.0
//
// What a scenario must satisfy before it can be timed.
#pragma once

#include "sim/estimate.hpp"

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

// Divisibility, chips, number formats, context length. Sets estimate.infeasible.
void check_runnable(const ScenarioView& scenario, ServingEstimate& estimate);

// Needs estimate.footprint.
void check_memory(const Cache& cache, ServingEstimate& estimate);

// Needs estimate.steady.
void check_load(const ScenarioView& scenario, ServingEstimate& estimate);

}  // namespace roofcast::sim
