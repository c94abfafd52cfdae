// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

namespace roofcast::base {

// The q-quantile (0 ≤ q ≤ 1) of values in any order: linear between order statistics at position
// q·(n−1) of the sorted values (R's type 7). NaN when there are none.
double quantile(std::vector<double> values, double q);

// The same of values that are sorted.
double sorted_quantile(std::span<const double> sorted, double q);

}  // namespace roofcast::base
