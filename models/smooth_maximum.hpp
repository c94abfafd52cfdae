// SPDX-License-Identifier: Apache-2.0
//
// The smooth maximum (Σ tᵖ)^(1/p) ≥ max t: the time of overlapped work. All published calibrations have p =
// 4. For that exponent two square roots replace the power function.
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
