// SPDX-License-Identifier: Apache-2.0
#include "base/queueing/erlang.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>

#include "base/integers.hpp"

namespace roofcast::base::queueing {
namespace {

using Complex = std::complex<double>;

constexpr int kTerms = 18;
constexpr double kLong = 1e9;  // services, after which the start does not matter

// p*(s) of the header.
Complex all_busy(std::int64_t servers, double load, Complex s) {
  Complex reached = 1.0;
  Complex up;
  for (std::int64_t n = 0; n < servers && reached != 0.0; ++n) {
    up = load / (load + s + as_double(n) * (1.0 - up));
    reached *= up;
  }
  return reached / (s + as_double(servers) * (1.0 - up));
}

// Weights of the 2 kTerms + 1 points, by Euler's summation of an alternating series.
std::array<double, 2 * kTerms + 1> euler_weights() {
  std::array<double, 2 * kTerms + 1> weights;
  weights.fill(1.0);
  weights.front() = 0.5;
  double binomial = std::ldexp(1.0, -kTerms);
  double sum = 0.0;
  for (int k = 0; k < kTerms; ++k) {
    sum += binomial;
    weights[static_cast<std::size_t>(2 * kTerms - k)] = sum;
    binomial *= static_cast<double>(kTerms - k) / (k + 1.0);
  }
  return weights;
}

}  // namespace

double erlang_b(std::int64_t servers, double load) {
  double blocked = 1.0;
  for (std::int64_t k = 1; k <= servers && blocked > 0.0; ++k) {
    blocked = load * blocked / (as_double(k) + load * blocked);
  }
  return blocked;
}

double early_erlang_b(std::int64_t servers, double load, double services) {
  if (!(services < kLong)) {
    return erlang_b(servers, load);
  }
  static const auto weights = euler_weights();
  const double shift = kTerms * std::numbers::ln10 / 3.0;
  double sum = 0.0;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const Complex s = Complex(shift, std::numbers::pi * static_cast<double>(k)) / services;
    sum += (k % 2 == 0 ? weights[k] : -weights[k]) * (all_busy(servers, load, s) / s).real();
  }
  return std::clamp(std::exp(shift) / (services * services) * sum, 0.0, 1.0);
}

double erlang_c(std::int64_t servers, double load) {
  const double utilisation = load / as_double(servers);
  if (utilisation >= 1.0) {
    return 1.0;
  }
  const double blocked = erlang_b(servers, load);
  return blocked / (1.0 - utilisation * (1.0 - blocked));
}

}  // namespace roofcast::base::queueing
