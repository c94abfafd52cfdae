// SPDX-License-Identifier: Apache-2.0
//
// The estimate of a scenario that trains, for people.
#pragma once

#include <string>

#include "sim/estimate.hpp"

namespace roofcast::cli {

// Where a step's time goes and what its memory holds; empty for what only serves.
std::string training_text(const sim::Scenario& scenario, const sim::ServingEstimate& estimate);

}  // namespace roofcast::cli
