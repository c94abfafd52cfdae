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

// Sets `causes` of an estimate, of what limits it (sim/result/causes.hpp); `scenario` is the one that was estimated. Nothing is
// told of RL post-training.
void tell_causes(const ScenarioView& scenario, ServingEstimate& estimate);
// The same with what estimates share.
void tell_causes(const ScenarioView& scenario, ServingEstimate& estimate, Workspace& workspace);

// The scenario as it is served. If requests are samples of questions, its traffic is sampled_traffic(). It is without requests
// that are longer than the context (workloads/traffic/within_context.hpp).
class ServedScenario {
 public:
  explicit ServedScenario(const ScenarioView& scenario);
  ServedScenario(const ServedScenario&) = delete;  // its view points into it
  ServedScenario& operator=(const ServedScenario&) = delete;

  ScenarioView view;
  double beyond_context = 0.0;  // share of the requests

 private:
  workloads::Traffic traffic_;
};

// Sets what follows from a steady state and from task.per_second: cost and energy.
//
//   output_rate       tok/s, output tokens of all replicas: requests per second times tokens of an answer. It is set
//                     before. For training it is the tokens that are trained on; for post-training, those generated
//   joules_per_token  J/tok, GPUs times mean power of a GPU over output_rate
//   usd_per_mtok      USD/Mtok, dollars per second of all GPUs over output_rate
//   task.usd          USD, dollars per second over tasks per second; used for agents only
void add_costs(const ScenarioView& scenario, ServingEstimate& estimate, Workspace& workspace);

}  // namespace roofcast::sim
