// SPDX-License-Identifier: Apache-2.0
//
// What tokens cost and what power they take, of a scenario that has been forecast.
//
// Dollars a second of all GPUs by hardware/prices.hpp, at the mean power of the forecast. Of its tokens:
//
//   cost     = USD/s / (output tokens a second)              all of it on the answers
//   output   = (1−w) · USD/s / (output tokens a second)      w = prompt_share (sim/serving/uniform_closed_loop.hpp): the share of the
//   input    = w·(1−c) · USD/s / (new input tokens a second)     GPUs' time that prompts add to passes; of two pools,
//   cached   = w·c · USD/s / (cached input tokens a second)      the share of the GPUs that compute prompts
//
// c is the share of a prompt's time that it would not take without the tokens that the prefix cache holds: attention
// to them. A request pays input, cached and output tokens at these prices, and no more. Idle time is shared like busy
// time. Of agents and of two pools the prices of input hold what is cached.
//
// Power. Reserved is what a site must be able to deliver, n·(TDP + host)·PUE; drawn is n·(power + host)·PUE.
//
//   tokens a second and MW = output tokens a second / reserved
//   CO2                    = drawn · grid / (output tokens a second)
//   under a power budget   = ⌊budget / reserved of one replica⌋ replicas, each as it is here
//
// What is not known, a host's power for one, makes all that needs it NaN.
#pragma once

#include <string>

#include "sim/result/serving_estimate.hpp"

namespace roofcast::sim {

// USD a second of all GPUs; NaN where it is not known.
struct CostParts {
  double rent = 0;
  double capital = 0;
  double upkeep = 0;
  double hosting = 0;
  double electricity = 0;
  double total() const { return rent + capital + upkeep + hosting + electricity; }
};
CostParts cost_parts(const ScenarioView& scenario, const ServingEstimate& estimate);

// What is rented costs the same whatever it does; NaN for what is owned.
base::DollarsPerSecond rent_per_gpu(const ScenarioView& scenario);

// Which key keeps the cost unknown; empty when it is known.
std::string missing_price(const ScenarioView& scenario, const ServingEstimate& estimate);

Economics economics_of(const ScenarioView& scenario, const ServingEstimate& estimate,
                       Workspace& workspace);

}  // namespace roofcast::sim
