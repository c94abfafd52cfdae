// SPDX-License-Identifier: Apache-2.0
#include "base/statistics/quantile.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace roofcast::base {

double quantile(std::vector<double> values, double q) {
  if (values.empty()) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  std::sort(values.begin(), values.end());
  return sorted_quantile(values, q);
}

double next_quantile(std::vector<double> values, double q) {
  const auto n = static_cast<double>(values.size());
  if (n < 2.0) {
    return quantile(std::move(values), q);
  }
  return quantile(std::move(values), std::clamp((q * (n + 1.0) - 1.0) / (n - 1.0), 0.0, 1.0));
}

}  // namespace roofcast::base
