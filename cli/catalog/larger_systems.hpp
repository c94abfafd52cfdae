// SPDX-License-Identifier: Apache-2.0
//
// Where a scenario would find the GPUs that its own system lacks.
#pragma once

#include <string>

#include "sim/result/serving_estimate.hpp"
#include "sim/scenario/scenario.hpp"

namespace roofcast::cli {

// "systems with as many: b200_cluster_128 (128, the same chip), ...", smallest first, those of the same chip before the
// others; empty unless the estimate lacks GPUs, or if no system of the catalog has as many.
std::string larger_systems(const sim::Scenario& scenario, const sim::ServingEstimate& estimate);

}  // namespace roofcast::cli
