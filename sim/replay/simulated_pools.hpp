// SPDX-License-Identifier: Apache-2.0
//
// The pools of replicas that a simulation runs: one, or the prefill and the decode pool.
#pragma once

#include <string>
#include <vector>

#include "sim/result/infeasible.hpp"
#include "sim/scenario/pools.hpp"

namespace roofcast::sim {

struct SimulatedPool {
  ScenarioView scenario;
  PoolKind kind = PoolKind::none;
  base::Bytes cache;  // KV cache of a rank
};

// Sets `cache` of each. Returns why one of them cannot run; empty where all can. What runs is checked for the smallest
// request, one token in and one out: requests that are too long are rejected one by one.
std::string check_pools(const ScenarioView& scenario, std::vector<SimulatedPool>& pools);

}  // namespace roofcast::sim
