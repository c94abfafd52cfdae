// SPDX-License-Identifier: Apache-2.0
//
// What the time of an optimizer step is for, in the words of models::Cause (sim/result/causes.hpp).
//
//   link        transfers between stages, and of gradients and parameters, as far as they are exposed
//   straggler   the mean stage waits for the slowest, a rank for the one with most pairs of its experts, and all for the slowest
//               (jitter)
//   HBM         the optimizer, products of Muon included
//   host        the trainer's time a step, and launches that the GPU waits for
//   the rest    the operators of both passes, each as long as it takes in a micro-batch, all stages added up
//
// The bubble of a pipeline is a multiple of a micro-batch's passes: it has the causes of the rest. So a share is an
// elasticity here too.
#pragma once

#include "sim/result/causes.hpp"
#include "sim/result/serving_estimate.hpp"

namespace roofcast::sim {

// Sets `causes` of an estimate that trains without RL; `scenario` is the one that was estimated.
void tell_step_causes(const ScenarioView& scenario, ServingEstimate& estimate);

}  // namespace roofcast::sim
