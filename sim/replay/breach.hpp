// SPDX-License-Identifier: Apache-2.0
//
// How probable it is that a window of time, say of five minutes, breaks the promise: that most requests meet their
// objectives.
//
//   window  w      the requests that arrive in it
//   breach         fewer than a share S of these meet every objective of their class; a window without requests has none
//   P = B / n      breach probability: B of n windows breach
//
// Drawn requests. Each of R replications draws requests of its own seed, s, s + 1, …, s + R - 1. Its server starts
// empty, and the lead before the window fills it. Requests go on to come after the window, so that its last ones are
// served under load. Each replication gives one window. So windows are independent, and the 95 % interval is Wilson's
// for R trials (base/statistics/proportion.hpp).
//
// One run, as of a trace. The windows follow one another, without the first, which fills the server, and without a last
// one that is cut short. Neighbours are alike, so the interval is Wilson's for as many independent trials as tell as
// much.
//
// The interval is of chance in the requests alone. It leaves out the errors of the forecast (docs/accuracy.md).
//
// Source of replications with a lead: A. M. Law, Simulation Modeling and Analysis, 5th ed., 9.5.2.
#pragma once

#include <atomic>
#include <cstddef>

#include "base/statistics/proportion.hpp"
#include "base/units/quantity.hpp"
#include "sim/replay/simulate.hpp"
#include "workloads/traffic/request_stream.hpp"

namespace roofcast::sim {

struct Window {
  base::Seconds length = 300.0 * base::second;
  double share = 0.95;  // of the requests of a window that must meet their objectives
};

struct Breach {
  std::size_t windows = 0;
  std::size_t breached = 0;
  base::ShareInterval interval;  // 95 %
  double attainment = 0;         // of the requests of all windows
  double least_attainment = 0;   // of the worst window that has requests
  double probability() const {
    return static_cast<double>(breached) / static_cast<double>(windows);
  }
};

// Of drawn requests. `threads` 0: all cores; any number gives the same answer. `done` counts finished replications.
// The scenario runs (Simulation::reason). InputError where a replication would have more requests than memory holds, or
// where no request arrives in any window.
Breach breach_of_draws(const ScenarioView& scenario, const workloads::RequestStream& stream,
                       const Window& window, std::size_t replications, unsigned threads,
                       std::atomic<std::size_t>* done = nullptr);

// Of one run. InputError where it has no whole window after the first, or no request in any.
Breach breach_of_run(const Simulation& simulation, const workloads::RequestClasses& classes,
                     const Window& window);

}  // namespace roofcast::sim
