// SPDX-License-Identifier: Apache-2.0
//
// How far an estimate may be from a server that runs: 90 % intervals of its numbers.
//
// Two independent sources: the operators' errors, added up over the passes (models/uncertainty.hpp), and what a
// server does beside its operators (host, scheduler, fusion, version), whose spread a stack's `errors:` give from
// measured servers. TTFT and TPOT of one server err together, so that of end to end is their mean,
// weighted by time; a closed loop completes requests as one over it.
#pragma once

#include "models/uncertainty.hpp"
#include "sim/result/steady_state.hpp"
#include "sim/scenario/scenario.hpp"

namespace roofcast::sim {

struct Spreads {
  models::Spread ttft;
  models::Spread tpot;
  models::Spread interactivity;
  models::Spread end_to_end;
  models::Spread rate;  // requests, tokens per second
  models::Spread power;
  models::Spread energy;  // per token
};

Spreads spreads_of(const ScenarioView& scenario, const SteadyState& steady);

// Of a scenario that serves nobody.
Spreads no_spreads();

}  // namespace roofcast::sim
