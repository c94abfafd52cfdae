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

// Figures of the tasks of agents (sim/serving/agents.hpp).
struct TaskEstimate {
  base::Seconds mean;  // of a task, from its first turn to its last answer
  base::Seconds p50;
  base::Seconds p95;
  double per_second = 0;       // 1/s, tasks of all agents; 0 if the traffic has no agents
  double usd = 0;              // USD per task; NaN if the price is not known
  double prefix_hit_rate = 0;  // share of the input tokens in the KV cache
  // Share of the time of agents and sub-agents, without waits for sub-agents.
  double tools_share = 0;
  double present = 0;  // mean number of turns in the engine
};

// Cost and power (sim/result/costs.hpp). NaN if it is not known.
struct Economics {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  double usd_per_second = kNone;  // all GPUs
  double input_usd_per_mtok = kNone;
  double cached_usd_per_mtok = kNone;
  double output_usd_per_mtok = kNone;
  double co2_g_per_mtok = kNone;  // g CO2 per million output tokens
  double gpus_in_budget = kNone;  // GPUs of all whole replicas that the power budget feeds
  base::Watts reserved = base::Watts::from_si(kNone);  // of the site, for all GPUs
};

struct Causes;    // sim/result/causes.hpp
struct Workflow;  // sim/result/training_step.hpp

struct ServingEstimate {
  Infeasible infeasible;
  PoolKind pool = PoolKind::none;  // the pool that cannot run

  std::int64_t gpus = 0;
  models::Footprint footprint;
  base::Bytes memory;      // on the fullest rank, with the KV cache in use
  double max_running = 0;  // sequences that the KV cache of one attention-DP rank holds
  SteadyState steady;
  Spreads spreads;  // 90 % intervals
  // Share of the requests that are longer than the context. They are rejected, and in no figure but the attainment.
  double beyond_context = 0;
  double output_rate = 0;   // tok/s, output tokens of all replicas
  double usd_per_mtok = 0;  // per million output tokens; NaN if the price is not known
  Economics economics;
  double joules_per_token = 0;  // per output token; NaN if the chip's TDP is not known
  // What of its costs and power is that of another chip (sim/result/parent_figures.hpp). Nothing where nothing is.
  std::shared_ptr<const std::string> parent_figures;
  KnownScore score;
  TaskEstimate task;
  hardware::Provenance provenance = hardware::Provenance::datasheet;
  // The result of a scenario that trains, in place of a steady state. Its output tokens are the tokens that it trains
  // on; in post-training, the tokens that it generates.
  std::shared_ptr<const Workflow> workflow;
  // What its times are for. Nothing where nobody asked.
  std::shared_ptr<const Causes> causes;

  bool fits() const { return std::holds_alternative<std::monostate>(infeasible); }
};

// Why the scenario cannot run, in one sentence. Empty if it can.
inline std::string reason(const ServingEstimate& estimate) {
  return reason(estimate.infeasible, estimate.pool);
}

}  // namespace roofcast::sim
