// SPDX-License-Identifier: Apache-2.0
//
// What another format costs: the scenario estimated anew, beside what it is now.
#pragma once

#include <string>

#include "sim/result/serving_estimate.hpp"
#include "sim/scenario/scenario.hpp"

namespace roofcast::sim {

std::string remedy_cost(const ServingEstimate& now, const ScenarioView& other);

}  // namespace roofcast::sim
