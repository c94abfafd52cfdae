// SPDX-License-Identifier: Apache-2.0
//
// What an estimate should be read with.
#pragma once

#include <string>
#include <vector>

#include "sim/result/serving_estimate.hpp"
#include "sim/scenario/scenario.hpp"

namespace roofcast::cli {

// A sentence each: iterations that are always full of prompts, and requests that the context is too short for.
std::vector<std::string> warnings_of(const sim::Scenario& scenario,
                                     const sim::ServingEstimate& estimate);

}  // namespace roofcast::cli
