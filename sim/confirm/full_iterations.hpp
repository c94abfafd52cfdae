// SPDX-License-Identifier: Apache-2.0
//
// Prompts that have no room beside the sequences that decode.
//
// A stack that does not chunk prompts computes one in one iteration, whose tokens are limited. A prompt that finds more
// decodes than the limit leaves room for waits until some have ended: with a prompt as long as the limit, until all have.
#pragma once

#include <string>

#include "sim/result/serving_estimate.hpp"
#include "sim/scenario/scenario.hpp"

namespace roofcast::sim {

// What such prompts wait for and the limit that ends it; empty where hardly any prompt is so long.
std::string full_iterations(const ScenarioView& scenario, const ServingEstimate& estimate);

}  // namespace roofcast::sim
