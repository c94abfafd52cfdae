// SPDX-License-Identifier: Apache-2.0
//
// A training run, drawn failure by failure: the process of sim/training/run_model.hpp without its approximations.
// Failures come at exponential times, repairs take exponential times. A run of 650 failures takes 0.1 ms.
#pragma once

#include "base/statistics/random.hpp"
#include "sim/training/run_model.hpp"

namespace roofcast::sim {

RunOutcome draw(const RunModel& run, base::Random& random);
// What is done of it when so much time is over, however much work there is.
RunOutcome draw_within(const RunModel& run, base::Seconds time, base::Random& random);

}  // namespace roofcast::sim
