// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/scenario/scenario.hpp"
#include "sim/training/pass.hpp"

namespace roofcast::sim {

// Time of a pass on the slowest stage. The first stage has the embedding, the last one the head.
base::Seconds slowest_stage(const ScenarioView& scenario, const Pass& pass);

}  // namespace roofcast::sim
