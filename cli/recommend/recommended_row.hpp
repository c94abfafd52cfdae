// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/recommend/recommendation.hpp"

namespace roofcast::cli {

// What a row is on each axis but the clients: "gb200_nvl72", "fp8", "8 x TP4".
std::vector<std::string> labels_of(const sim::SweepPoints& points, std::size_t row);

// The scenario of an answer.
base::Node scenario_of(const sim::Recommendation& recommendation, const sim::RankedRow& row);

}  // namespace roofcast::cli
