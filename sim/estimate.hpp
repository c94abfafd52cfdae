// SPDX-License-Identifier: Apache-2.0
//
// The forecast of one serving scenario. estimate.cpp is the page to read first.
#pragma once

#include <string>

#include "models/footprint.hpp"
#include "sim/score.hpp"
#include "sim/steady_state.hpp"
#include "sim/uncertainty.hpp"

namespace roofcast::sim {

// Why a scenario cannot run; a result, not an error.
enum class Infeasible : std::uint8_t {
  none,
  mapping,         // the model does not divide that way
  system_size,     // more ranks than chips
  number_format,   // no multiplier for a format
  context,         // longer than the model's
  draft,           // there is no module to draft with, or the draft does not divide that way
  weights,         // do not fit beside activations and reserve
  cache,           // one request's KV cache does not fit
  load,            // requests arrive faster than they can be served
  no_closed_form,  // two pools with arrivals or drafts: only simulated
};

// Of a disaggregated deployment.
enum class PoolKind : std::uint8_t { none, prefill, decode };

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
  Spreads spreads;              // 90 % intervals
  double output_rate = 0;       // output tokens per second of the replica
  double usd_per_mtok = 0;      // output tokens; NaN when the system has no price
  double joules_per_token = 0;  // output tokens; NaN when the chip's TDP is not known
  KnownScore score;
  hardware::Provenance provenance = hardware::Provenance::datasheet;

  bool fits() const { return infeasible == Infeasible::none; }
};

ServingEstimate estimate(const ScenarioView& scenario, Workspace& workspace);

// One sentence; empty when it fits.
std::string reason(const ServingEstimate& estimate);

}  // namespace roofcast::sim
