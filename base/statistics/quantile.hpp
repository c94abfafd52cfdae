// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace roofcast::base {

// The q-quantile (0 ≤ q ≤ 1) of values in any order: linear between order statistics at position
// q·(n−1) of the sorted values (R's type 7). NaN when there are none.
double quantile(std::vector<double> values, double q);

// The same of values that are sorted, at least one: numbers or quantities.
template <class Value>
Value sorted_quantile(const std::vector<Value>& sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double share = position - static_cast<double>(below);
  return sorted[below] + share * (sorted[above] - sorted[below]);
}

}  // namespace roofcast::base
