// SPDX-License-Identifier: Apache-2.0
#include "sim/replay/simulated_pools.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/iteration/memory.hpp"
#include "sim/result/feasibility.hpp"

namespace roofcast::sim {
namespace {

constexpr double kMostParts = 200'000.0;  // each has queues of its own, some 4 kB

}  // namespace

std::string check_pools(const ScenarioView& s, std::vector<SimulatedPool>& pools) {
  if (s.pools != nullptr && !pools_are_connected(s)) {
    return reason(infeasible::NoNetwork{});
  }
  const GpuKinds kinds = gpu_kinds(s);
  const workloads::Traffic least{1, 1, 1, 0};
  double parts = 0.0;
  for (SimulatedPool& pool : pools) {
    ScenarioView smallest = pool.scenario;
    smallest.traffic = &least;
    ServingEstimate fit;
    fit.gpus = kinds.of[kinds.size > 1 && pool.kind == PoolKind::decode ? 1 : 0].count;
    check_runnable(smallest, fit);
    if (fit.fits()) {
      fit.footprint = footprint_of(pool.scenario);
      check_memory(cache_of(smallest), fit);
    }
    if (!fit.fits()) {
      fit.pool = pool.kind;
      return reason(fit);
    }
    pool.cache = fit.footprint.cache;
    const std::int64_t of_replica =
        std::max(pool.scenario.mapping->data_parallel,
                 pool.scenario.serving->front_ends_of(*pool.scenario.mapping));
    parts += static_cast<double>(pool.scenario.serving->replicas) * static_cast<double>(of_replica);
  }
  if (parts > kMostParts) {
    return fmt::format(
        "the replicas have more than {} data-parallel ranks or front ends, the most that is "
        "simulated",
        kMostParts);
  }
  return {};
}

}  // namespace roofcast::sim
