// SPDX-License-Identifier: Apache-2.0
//
// What the estimate of a scenario that trains is made of.
#pragma once

#include <optional>

#include "sim/post_training.hpp"

namespace roofcast::sim {

struct Workflow {
  TrainingStep training;  // one optimizer step
  std::optional<PostTrainingStep> post_training;
  base::Seconds step() const { return post_training ? post_training->time : training.time; }
};

// A steady state of which nothing is known: a scenario that trains serves nobody.
SteadyState no_steady_state();
Spreads no_spreads();

}  // namespace roofcast::sim
