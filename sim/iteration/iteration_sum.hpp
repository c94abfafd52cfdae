// SPDX-License-Identifier: Apache-2.0
//
// Adds what runs after an iteration to its cost.
#pragma once

#include "sim/iteration/iteration.hpp"

namespace roofcast::sim {

// Adds `count` passes of another model. It runs on a share `ranks` of the ranks; the others wait.
inline void add(IterationCost& iteration, const IterationCost& pass, double count, double ranks) {
  const base::Seconds time = count * pass.latency;
  if (time > base::Seconds{}) {
    iteration.clock =
        (iteration.clock * iteration.latency + pass.clock * time) / (iteration.latency + time);
  }
  iteration.latency += time;
  iteration.period += count * pass.period;
  iteration.latency_host += count * pass.latency_host;
  iteration.period_host += count * pass.period_host;
  for (std::size_t i = 0; i < iteration.by_limit.size(); ++i) {
    iteration.by_limit[i] += count * pass.by_limit[i];
  }
  iteration.energy_above_idle += ranks * count * pass.energy_above_idle;
  iteration.operators.add(pass.operators, count);
}

}  // namespace roofcast::sim
