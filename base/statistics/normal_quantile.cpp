// SPDX-License-Identifier: Apache-2.0
#include "base/statistics/normal_quantile.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace roofcast::base {

// Starts with formula 26.2.22 of Abramowitz and Stegun, which is within 0.003, and improves it by Newton's method.
double normal_quantile(double share) {
  constexpr int kSteps = 3;
  const double tail = std::min(share, 1.0 - share);
  const double t = std::sqrt(-2.0 * std::log(tail));
  double x = t - (2.30753 + 0.27061 * t) / (1.0 + t * (0.99229 + 0.04481 * t));  // beyond x: tail
  for (int i = 0; i < kSteps; ++i) {
    const double density = std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi);
    x += (0.5 * std::erfc(x / std::numbers::sqrt2) - tail) / density;
  }
  return share < 0.5 ? -x : x;
}

}  // namespace roofcast::base
