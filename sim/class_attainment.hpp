// SPDX-License-Identifier: Apache-2.0
//
// Attainment of each class of requests, as it is estimated.
//
// TTFT and TPOT are taken as the same in all classes, so the share of a class is that of a traffic whose requests are all
// of this class. With a queue by priority they are not, and no share is known.
#pragma once

#include <string_view>
#include <vector>

#include "sim/estimate.hpp"

namespace roofcast::sim {

// Whether the result of a scenario has figures of classes: it has several, and an objective.
bool has_classes(const ScenarioView& scenario);
// Why they are not known; empty where they are, or nobody asked.
std::string_view class_gap(const ScenarioView& scenario);
// By class; empty where they are not known. One estimate for each class.
std::vector<double> class_attainment(const ScenarioView& scenario, Workspace& workspace);

}  // namespace roofcast::sim
