// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/scenario/scenario.hpp"
#include "sim/training/pass.hpp"

namespace roofcast::sim {

// Time of a pass on the slowest stage. The last stage has the head; without a layout it has as many layers as make the
// slowest stage fastest.
base::Seconds slowest_stage(const ScenarioView& scenario, const Pass& pass);

}  // namespace roofcast::sim
