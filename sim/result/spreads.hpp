// SPDX-License-Identifier: Apache-2.0
//
// 90 % intervals of an estimate: how far a real server may be from its numbers.
//
// There are two independent sources of error. The first is the errors of the operators, added up over iterations
// (models/uncertainty.hpp). The second is everything of a server that is not an operator: host, scheduler, fusion,
// version. A stack's `errors:` give the spread of the second from measured servers. TTFT and TPOT of one server err
// together, so the interval of the end-to-end latency is their mean, weighted by time.
//
// Rates. A closed loop completes requests at one over the end-to-end latency, so its rate has the inverse interval. An
// open loop completes what arrives, λ, unless a slower server saturates:
//
//   from min(λ, S·(1 − b))  to  λ
//
//   λ   1/s   rate of arrivals: S times the utilisation
//   S   1/s   saturation of the server that is forecast
//   b   –     how far 1 / end-to-end latency may be below its forecast: iterations that are slower serve fewer
//
// The cost of a token has the inverse interval of the rate. So has its energy, together with that of power.
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
  models::Spread rate;  // requests or tokens per second
  models::Spread cost;  // per token
  models::Spread power;
  models::Spread energy;  // energy per token
  models::Spread step;    // of a scenario that trains
};

// `servers`: the errors of the stack, for as many pools.
Spreads spreads_of(const ScenarioView& scenario, const SteadyState& steady,
                   const workloads::ServedErrors& servers);

// NaN throughout, for a scenario that does not serve.
Spreads no_spreads();

// Of a scenario that trains: the errors of the operators in a step, and those of the trainer, which are measured steps over
// their forecasts. NaN where nobody measured the trainer.
Spreads training_spreads(models::Spread operators, const workloads::Trainer& trainer);

}  // namespace roofcast::sim
