// SPDX-License-Identifier: Apache-2.0
#include "base/statistics/quantile.hpp"

#include <algorithm>
#include <limits>

namespace roofcast::base {

double quantile(std::vector<double> values, double q) {
  if (values.empty()) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  std::sort(values.begin(), values.end());
  return sorted_quantile(values, q);
}

}  // namespace roofcast::base
