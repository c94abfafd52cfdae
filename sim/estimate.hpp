// SPDX-License-Identifier: Apache-2.0
//
// The forecast of one serving scenario. estimate.cpp is the page to read first.
#pragma once

#include <limits>
#include <memory>
#include <string>

#include "models/footprint.hpp"
#include "sim/score.hpp"
#include "sim/steady_state.hpp"
#include "sim/uncertainty.hpp"

namespace roofcast::sim {

// Why a scenario cannot run; a result, not an error.
enum class Infeasible : std::uint8_t {
  none,
  mapping,        // the model does not divide that way
  system_size,    // more ranks than chips
  number_format,  // no multiplier for a format
  context,        // longer than the model's
  one_pass,       // a model that is not autoregressive has no decodes, and takes a prompt whole
  images,         // no encoder, or more tokens of images than the input has
  draft,          // there is no module to draft with, or the draft does not divide that way
  weights,        // do not fit beside activations and reserve
  cache,          // one request's KV cache does not fit
  load,           // requests arrive faster than they can be served
  no_closed_form,  // two pools with arrivals, drafts or agents, agents whose contexts are elsewhere: only simulated
  trained_tables,   // how embedding tables are trained is not modelled
  global_batch,     // not a multiple of what data-parallel ranks compute at once
  colocated,        // GPUs that train cannot generate meanwhile
  responses,        // not a multiple of the global batch
  packed_length,    // a response longer than the sequences that the training packs
  training_memory,  // parameters, gradients, optimizer and activations do not fit
};

// Of agents (sim/agents.hpp).
struct TaskEstimate {
  base::Seconds mean;  // from its first turn to its last answer
  base::Seconds p50;
  base::Seconds p95;
  double per_second = 0;   // of all agents; 0: the traffic is not of agents
  double usd = 0;          // NaN when the price is not known
  double found_share = 0;  // of the input tokens, in the KV cache
  double tools_share = 0;  // of the time of agents and sub-agents that do not wait for others
  double present = 0;      // turns in the engine, mean
};

// What tokens cost and what power they take (sim/costs.hpp); NaN where it is not known.
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

// Of a disaggregated deployment.
enum class PoolKind : std::uint8_t { none, prefill, decode };

struct Workflow;  // sim/workflow.hpp

struct ServingEstimate {
  Infeasible infeasible = Infeasible::none;
  PoolKind pool = PoolKind::none;  // that cannot run
  std::uint8_t detail = 0;         // of mapping, draft and number_format: the fault, the multiplier
  double needed = 0;               // chips, tokens, bytes or requests per second, beside
  double available = 0;

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

  bool fits() const { return infeasible == Infeasible::none; }
};

ServingEstimate estimate(const ScenarioView& scenario, Workspace& workspace);

// One sentence; empty when it fits.
std::string reason(const ServingEstimate& estimate);

}  // namespace roofcast::sim
