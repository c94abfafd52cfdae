// SPDX-License-Identifier: Apache-2.0
//
// The step of a training that fits.
#pragma once

#include "sim/estimate.hpp"
#include "sim/result/training_step.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::sim {

inline TrainingStep step_of(const Scenario& scenario) {
  Workspace workspace;
  const ServingEstimate e = estimate(view(scenario), workspace);
  INFO(reason(e));
  REQUIRE(e.fits());
  return e.workflow->training;
}

}  // namespace roofcast::sim
