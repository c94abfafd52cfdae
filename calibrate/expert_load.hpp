// SPDX-License-Identifier: Apache-2.0
//
// What the busiest rank is given by the routing that fused experts were measured with.
//
//   balanced       tokens · top_k / ranks pairs on as many experts as they reach
//   power_law_α    an expert's popularity x is drawn from p(x) ∝ x^−α on [1, 0.8 · tokens], on [0.01, 2]
//                  where pairs are fewer than experts; counts are popularities scaled to all pairs and
//                  rounded, what rounding loses goes to the most popular; the rank with most pairs is timed
//
// The busiest of r sums of E/r popularities: the quantile 1 − e^−γ/r (the mean of a largest of r) of a
// gamma distribution with the sum's mean and variance (Wilson-Hilferty). Source: collector/helper.py of
// ai-dynamo/aiconfigurator@095f58a.
#pragma once

#include <cstdint>
#include <string_view>

namespace roofcast::calibrate {

struct RoutedTokens {
  std::int64_t tokens = 0;
  std::int64_t top_k = 0;
  std::int64_t experts = 0;
  std::int64_t ranks = 1;
};

struct ExpertLoad {
  double pairs = 0.0;
  double distinct = 0.0;  // experts with at least one pair
};

ExpertLoad expert_load(const RoutedTokens& routed, std::string_view distribution);

}  // namespace roofcast::calibrate
