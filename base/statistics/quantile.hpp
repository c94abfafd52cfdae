// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace roofcast::base {

// The q-quantile (0 ≤ q ≤ 1) of values in any order: linear between order statistics at position
// q·(n−1) of the sorted values (R's type 7). NaN when there are none.
double quantile(std::vector<double> values, double q);

// The bound below which a next value of the same kind is with probability q: position q·(n+1) from one on, between the
// least and the greatest value (R's type 6). An interval between two of them holds a next value as often as it says, where
// n ≥ 1/q − 1 (split conformal prediction, arXiv 1604.04173); between quantiles of type 7 it holds 82 % in place of 90 %
// with n = 22. NaN when there are none.
double next_quantile(std::vector<double> values, double q);

// The same of values that are sorted, at least one: numbers or quantities.
template <class Value>
Value sorted_quantile(const std::vector<Value>& sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double share = position - static_cast<double>(below);
  return sorted[below] + share * (sorted[above] - sorted[below]);
}

// The same of values in any order, for several q that rise. It puts only those values into their places that are asked
// for, which takes a fifth of the time of sorting.
template <class Value>
class RisingQuantiles {
 public:
  explicit RisingQuantiles(std::vector<Value>& values) : values_(values) {}

  Value operator()(double q) {
    const auto below = static_cast<std::size_t>(q * static_cast<double>(values_.size() - 1));
    place(below);
    place(std::min(below + 1, values_.size() - 1));
    return sorted_quantile(values_, q);
  }

 private:
  void place(std::size_t index) {
    if (index >= placed_) {
      const auto at = [this](std::size_t i) {
        return values_.begin() + static_cast<std::ptrdiff_t>(i);
      };
      std::nth_element(at(placed_), at(index), values_.end());
      placed_ = index + 1;
    }
  }

  std::vector<Value>& values_;
  std::size_t placed_ = 0;  // values from here on are in any order, none below those before
};

}  // namespace roofcast::base
