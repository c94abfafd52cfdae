// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/disaggregated.hpp"

#include <algorithm>
#include <memory>

#include "base/integers.hpp"
#include "sim/iteration/draft_model.hpp"
#include "sim/result/feasibility.hpp"
#include "sim/scenario/pools.hpp"
#include "sim/serving/agents.hpp"
#include "sim/serving/two_pools.hpp"

namespace roofcast::sim {
namespace {

using base::as_double;

SteadyState follow(const ScenarioView& s, std::span<const base::Seconds> pauses,
                   Workspace& workspace) {
  return two_pools(s, pauses, workspace).steady;
}

}  // namespace

ServingEstimate disaggregated_estimate(const ScenarioView& s, Workspace& workspace) {
  ServingEstimate e;
  const GpuKinds kinds = gpu_kinds(s);
  e.provenance =
      hardware::Provenance::measured_corrected;  // the best; that of the worst pool counts
  for (const Gpus& gpus : kinds) {
    e.provenance = std::max(e.provenance, gpus.platform->system.provenance());
  }
  e.gpus = gpus_of(s);
  if (!pools_are_connected(s)) {
    e.infeasible = infeasible::NoNetwork{};
    return e;
  }
  PoolScenarios pools(s);
  const std::unique_ptr<const DraftModel> draft = draft_model_of(pools.decode());
  pools.draft_with(draft.get());
  workloads::Traffic prompts = *s.traffic;
  prompts.output_tokens = 1;
  ScenarioView prefill = pools.prefill();
  prefill.traffic = &prompts;
  PoolMemory of_prefill;
  PoolMemory of_decode;
  if (!check_pool(prefill, PoolKind::prefill, kinds.of[0].count, e, of_prefill) ||
      !check_pool(pools.decode(), PoolKind::decode, kinds.of[kinds.size - 1].count, e, of_decode)) {
    return e;
  }
  e.max_running = of_decode.footprint.cache / of_decode.cache.mean_request;
  if (s.traffic->agents) {
    e.footprint = of_prefill.footprint;
    e.steady = agents_steady_state(s, {pools.prefill(), of_prefill.cache.mean_request, follow}, e,
                                   workspace);
    check_load(s, e);
  } else {
    const PoolsState state = two_pools(s, {}, workspace);
    e.steady = state.steady;
    check_load(s, e);
    e.pool = e.fits() ? e.pool : state.full;
  }
  if (!e.fits()) {
    return e;
  }
  e.spreads = spreads_of(pools.decode(), e.steady, s.serving->stack.pool_errors);
  // Memory of a pool: its fixed part and the KV caches in use. A prefill rank holds prompts for TTFT (Little's law).
  const double prompts_held =
      e.steady.requests_per_second * (e.steady.ttft_mean / base::second) /
      as_double(s.pools->prefill.replicas * s.pools->prefill.mapping.data_parallel);
  const base::Bytes held =
      base::min(prompts_held * of_prefill.cache.full_request, of_prefill.footprint.cache);
  const base::Bytes running =
      base::min(e.steady.running * of_decode.cache.mean_request, of_decode.footprint.cache);
  e.footprint = of_prefill.footprint.weights > of_decode.footprint.weights ? of_prefill.footprint
                                                                           : of_decode.footprint;
  e.memory = base::max(of_prefill.footprint.fixed() + held, of_decode.footprint.fixed() + running);
  return e;
}

}  // namespace roofcast::sim
