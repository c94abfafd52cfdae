// SPDX-License-Identifier: Apache-2.0
//
// The forecast of one scenario: what it needs, how fast it is, what it costs, or why it cannot run.
#pragma once

#include <limits>
#include <memory>
#include <string>

#include "models/footprint.hpp"
#include "sim/result/infeasible.hpp"
#include "sim/result/score.hpp"
#include "sim/result/spreads.hpp"
#include "sim/result/steady_state.hpp"

namespace roofcast::sim {

// Of agents (sim/serving/agents.hpp).
struct TaskEstimate {
  base::Seconds mean;  // from its first turn to its last answer
  base::Seconds p50;
  base::Seconds p95;
  double per_second = 0;       // of all agents; 0: the traffic is not of agents
  double usd = 0;              // NaN when the price is not known
  double prefix_hit_rate = 0;  // of the input tokens, in the KV cache
  double tools_share = 0;      // of the time of agents and sub-agents that do not wait for others
  double present = 0;          // turns in the engine, mean
};

// What tokens cost and what power they take (sim/result/costs.hpp); NaN where it is not known.
struct Economics {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  double usd_per_second = kNone;  // of all GPUs
  double input_usd_per_mtok = kNone;
  double cached_usd_per_mtok = kNone;
  double output_usd_per_mtok = kNone;
  double co2_g_per_mtok = kNone;                       // of output tokens
  double gpus_in_budget = kNone;                       // of whole replicas
  base::Watts reserved = base::Watts::from_si(kNone);  // of all GPUs
};

struct Workflow;  // sim/result/training_step.hpp

struct ServingEstimate {
  Infeasible infeasible;
  PoolKind pool = PoolKind::none;  // that cannot run

  std::int64_t gpus = 0;
  models::Footprint footprint;
  base::Bytes memory;      // of the fullest rank, with the KV cache in use
  double max_running = 0;  // sequences the KV cache of one attention-DP rank holds
  SteadyState steady;
  Spreads spreads;          // 90 % intervals
  double output_rate = 0;   // output tokens per second of the replica
  double usd_per_mtok = 0;  // output tokens; NaN when the price is not known
  Economics economics;
  double joules_per_token = 0;  // output tokens; NaN when the chip's TDP is not known
  KnownScore score;
  TaskEstimate task;
  hardware::Provenance provenance = hardware::Provenance::datasheet;
  // Of a scenario that trains, in place of a steady state: output tokens are those trained or, of post-training,
  // generated.
  std::shared_ptr<const Workflow> workflow;

  bool fits() const { return std::holds_alternative<std::monostate>(infeasible); }
};

// Why it cannot run, in one sentence; empty when it can.
inline std::string reason(const ServingEstimate& estimate) {
  return reason(estimate.infeasible, estimate.pool);
}

}  // namespace roofcast::sim
