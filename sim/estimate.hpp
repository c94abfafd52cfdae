// SPDX-License-Identifier: Apache-2.0
//
// The forecast of one scenario. estimate.cpp is the page to read first: it calls every stage in order.
//
//   can it run       sim/result/feasibility.hpp. If not, `infeasible` says why, and no figure below is set.
//   memory           sim/iteration/memory.hpp: what fits on the fullest rank
//   steady state     sim/serving: latencies, rates and batches in the long run. A scenario that trains has an optimizer
//                    step instead (sim/training)
//   intervals        sim/result/spreads.hpp: the 90 % intervals of these
//   cost, energy     sim/result/costs.hpp
#pragma once

#include "sim/result/serving_estimate.hpp"

namespace roofcast::sim {

ServingEstimate estimate(const ScenarioView& scenario, Workspace& workspace);

}  // namespace roofcast::sim
