// SPDX-License-Identifier: Apache-2.0
#include "base/statistics/expected_maximum.hpp"

#include <cmath>

namespace roofcast::base {

// Newton's method on the survival function, which is convex: from 0 it never goes too far.
double expected_maximum(double n) {
  constexpr double kRoot2 = 1.4142135623730951;
  constexpr double kDensity = 0.3989422804014327;  // 1/√(2π)
  constexpr int kRounds = 100;
  if (n <= 1.0) {
    return 0.0;
  }
  const double beyond = 0.625 / (n + 0.25);
  double x = 0.0;
  for (int i = 0; i < kRounds; ++i) {
    const double step =
        (0.5 * std::erfc(x / kRoot2) - beyond) / (kDensity * std::exp(-0.5 * x * x));
    x += step;
    if (step < 1e-12) {
      break;
    }
  }
  return x;
}

}  // namespace roofcast::base
