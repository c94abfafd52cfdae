// SPDX-License-Identifier: Apache-2.0
//
// Checks of a scenario before it is timed, and of its load afterwards. Each sets estimate.infeasible if the scenario
// cannot run.
#pragma once

#include "sim/iteration/memory.hpp"
#include "sim/result/serving_estimate.hpp"

namespace roofcast::sim {

// Divisibility, number of chips, number formats, context length.
void check_runnable(const ScenarioView& scenario, ServingEstimate& estimate);

// Why nothing runs under the power cap of a system; std::monostate where it is between what a chip draws idle and its TDP.
Infeasible cap_fault(const Platform& platform);

// Weights and one KV cache in memory. Needs estimate.footprint.
void check_memory(const Cache& cache, ServingEstimate& estimate);

// Whether a pool of so many GPUs can run, and what memory it has. Sets estimate.pool where it cannot.
struct PoolMemory {
  models::Footprint footprint;
  Cache cache;
};
bool check_pool(const ScenarioView& pool, PoolKind kind, std::int64_t gpus,
                ServingEstimate& estimate, PoolMemory& memory);

// Load below saturation. Needs estimate.steady.
void check_load(const ScenarioView& scenario, ServingEstimate& estimate);

}  // namespace roofcast::sim
