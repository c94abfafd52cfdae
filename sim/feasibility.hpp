// SPDX-License-Identifier: Apache-2.0
//
// What a scenario must satisfy before it can be timed.
#pragma once

#include "sim/estimate.hpp"

namespace roofcast::sim {

// KV cache of one request on one rank.
struct Cache {
  base::Bytes mean_request;  // at input + output/2 tokens, what a running request holds on average
  base::Bytes full_request;  // at its end
};
Cache cache_of(const ScenarioView& scenario);

// Divisibility, chips, number formats, context length. Sets estimate.infeasible.
void check_runnable(const ScenarioView& scenario, ServingEstimate& estimate);

// Needs estimate.footprint.
void check_memory(const Cache& cache, ServingEstimate& estimate);

}  // namespace roofcast::sim
