// SPDX-License-Identifier: Apache-2.0
//
// The estimate of a scenario that trains, for people.
#pragma once

#include <string>

#include "sim/estimate.hpp"
#include "sim/result/training_step.hpp"

namespace roofcast::cli {

// What one spare host more is worth to a run, as a sentence without its end.
std::string spare_text(const sim::SpareHost& spare);

// Where a step's time goes and what its memory holds; empty for what only serves.
std::string training_text(const sim::Scenario& scenario, const sim::ServingEstimate& estimate);

}  // namespace roofcast::cli
