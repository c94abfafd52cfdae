// SPDX-License-Identifier: Apache-2.0
//
// A distribution of lengths as cells, with one cell for each short length. Functions such as 1/n need it:
// nodes_of() would miss the part of the shortest lengths.
#pragma once

#include <vector>

#include "workloads/traffic/lengths.hpp"

namespace roofcast::workloads {

// One cell for each length up to 32; beyond, cells end at 1.25 times the end of the one before. A cell stands at its
// middle. Weights add up to 1.
std::vector<WeightedLength> cells_of(const Lengths& lengths);

// The probability that a drawn length has at most so many tokens.
double share_up_to(const Lengths& lengths, std::int64_t tokens);

}  // namespace roofcast::workloads
