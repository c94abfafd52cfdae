// SPDX-License-Identifier: Apache-2.0
//
// What an owned system's tokens cost, for people.
#pragma once

#include <string>

#include "sim/estimate.hpp"

namespace roofcast::cli {

// The parts of the cost, or the key that keeps it unknown; empty for what is rented at a known price.
std::string cost_text(const sim::Scenario& scenario, const sim::ServingEstimate& estimate);

}  // namespace roofcast::cli
