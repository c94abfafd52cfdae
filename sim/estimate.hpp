// SPDX-License-Identifier: Apache-2.0
//
// The forecast of one scenario. estimate.cpp is the page to read first.
#pragma once

#include "sim/result/serving_estimate.hpp"

namespace roofcast::sim {

ServingEstimate estimate(const ScenarioView& scenario, Workspace& workspace);

}  // namespace roofcast::sim
