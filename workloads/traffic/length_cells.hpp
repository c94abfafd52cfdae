// SPDX-License-Identifier: Apache-2.0
//
// A distribution of lengths as cells, short lengths one by one: for functions such as 1/n, of which nodes_of() would
// miss what the shortest add.
#pragma once

#include <vector>

#include "workloads/traffic/lengths.hpp"

namespace roofcast::workloads {

// Each length to 32 and cells of 1.25 times the one before beyond, at their middles; weights add up to 1.
std::vector<WeightedLength> cells_of(const Lengths& lengths);

// Probability of no more than so many tokens, as drawn.
double share_up_to(const Lengths& lengths, std::int64_t tokens);

}  // namespace roofcast::workloads
