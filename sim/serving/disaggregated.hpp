// SPDX-License-Identifier: Apache-2.0
//
// The forecast of a scenario with two pools (sim/serving/two_pools.hpp): whether both fit, their steady state, intervals and
// memory.
#pragma once

#include "sim/result/serving_estimate.hpp"

namespace roofcast::sim {

ServingEstimate disaggregated_estimate(const ScenarioView& scenario, Workspace& workspace);

}  // namespace roofcast::sim
