// SPDX-License-Identifier: Apache-2.0
#include "calibrate/expert_load.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/csv.hpp"

namespace roofcast::calibrate {
namespace {

constexpr std::string_view kPowerLaw = "power_law_";

// p(x) ∝ x^−exponent on [low, high].
struct PowerLaw {
  double exponent, low, high;

  // ∫ xⁿ p(x) dx from `from` on, not normalised.
  double moment(double n, double from) const {
    const double p = n + 1.0 - exponent;
    return std::abs(p) < 1e-9 ? std::log(high / from) : (std::pow(high, p) - std::pow(from, p)) / p;
  }
  double mean_power(double n) const { return moment(n, low) / moment(0.0, low); }
};

// Quantile of the standard normal distribution (Abramowitz and Stegun 26.2.23, to 0.00045).
double normal_quantile(double probability) {
  const double tail = std::min(probability, 1.0 - probability);
  const double t = std::sqrt(-2.0 * std::log(tail));
  const double z = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                           (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  return probability < 0.5 ? -z : z;
}

// Share of all popularity that the busiest of `ranks` ranks with `local` experts each holds.
double busiest_share(const PowerLaw& law, double ranks, double local) {
  if (ranks <= 1.0) {
    return 1.0;
  }
  constexpr double kLargest = 0.561459;  // e^−γ
  const double mean = law.mean_power(1.0);
  const double variance = std::max(law.mean_power(2.0) - mean * mean, 1e-12 * mean * mean);
  const double shape = local * mean * mean / variance;
  const double z = normal_quantile(1.0 - kLargest / ranks);
  const double root = std::max(0.0, 1.0 - 1.0 / (9.0 * shape) + z / (3.0 * std::sqrt(shape)));
  const double sum = std::min(local * mean * root * root * root, local * law.high);
  return std::clamp(sum / (local * ranks * mean), 1.0 / ranks, 1.0);
}

}  // namespace

ExpertLoad expert_load(const RoutedTokens& routed, std::string_view distribution) {
  const auto tokens = static_cast<double>(routed.tokens);
  const auto top_k = static_cast<double>(routed.top_k);
  const auto experts = static_cast<double>(routed.experts);
  const auto ranks = static_cast<double>(routed.ranks);
  const double local = experts / ranks;
  const double all = tokens * top_k;
  if (distribution.substr(0, kPowerLaw.size()) != kPowerLaw) {
    return {all / ranks, std::min(all / ranks, local)};
  }
  const std::string exponent(distribution.substr(kPowerLaw.size()));
  const bool many = all > experts;
  const PowerLaw law{base::parse_number(exponent).value_or(1.0), many ? 1.0 : 0.01,
                     many ? std::max(0.8 * tokens, 1.001) : 2.0};
  const double pairs =
      std::min(all * busiest_share(law, ranks, local), tokens * std::min(top_k, local));
  const double rounds_to_one = 0.5 * experts * law.mean_power(1.0) / all;  // this popularity
  const double from = std::clamp(rounds_to_one, law.low, law.high);
  const double chosen = local * law.moment(0.0, from) / law.moment(0.0, law.low);
  const double lost = pairs * (1.0 - law.moment(1.0, from) / law.moment(1.0, law.low));
  return {pairs, std::min({std::max(chosen, lost), pairs, local})};
}

}  // namespace roofcast::calibrate
