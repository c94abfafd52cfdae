// SPDX-License-Identifier: Apache-2.0
//
// What a scenario must satisfy before it can be timed.
#pragma once

#include "sim/iteration/memory.hpp"
#include "sim/result/serving_estimate.hpp"

namespace roofcast::sim {

// Divisibility, chips, number formats, context length. Sets estimate.infeasible.
void check_runnable(const ScenarioView& scenario, ServingEstimate& estimate);

// Needs estimate.footprint.
void check_memory(const Cache& cache, ServingEstimate& estimate);

// Needs estimate.steady.
void check_load(const ScenarioView& scenario, ServingEstimate& estimate);

}  // namespace roofcast::sim
