// SPDX-License-Identifier: Apache-2.0
//
// (Σ tᵖ)^(1/p) ≥ max t: the time of what overlaps. p = 4, which all published calibrations have, takes no
// power function.
#pragma once

#include <algorithm>
#include <cmath>

namespace roofcast::models {

constexpr double fourth_power(double t) { return (t * t) * (t * t); }

inline double smooth_maximum(double a, double b, double c, double p) {
  if (p == 4.0) {
    return std::sqrt(std::sqrt(fourth_power(a) + fourth_power(b) + fourth_power(c)));
  }
  const double most = std::max(a, std::max(b, c));
  const auto power = [p, most](double t) { return std::pow(t / most, p); };
  return most > 0.0 ? most * std::pow(power(a) + power(b) + power(c), 1.0 / p) : 0.0;
}

}  // namespace roofcast::models
