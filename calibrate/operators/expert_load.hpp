// SPDX-License-Identifier: Apache-2.0
//
// What the timed rank is given by the routing that fused experts were measured with.
//
//   balanced       choice i of token t is expert ⌊t · s⌋ + i · ⌈E / top_k⌉ mod E with s = 1, or ⌈E / top_k⌉ / tokens
//                  where that is more; the first rank is timed, which a token alone always reaches. A kernel that keeps
//                  some of as many groups of experts as there are choices finds one choice in each: it keeps the first
//                  groups, and takes the first experts in place of the choices that it lost
//   power_law_α    an expert's popularity x is drawn from p(x) ∝ x^−α on [1, 0.8 · tokens], on [0.01, 2]
//                  where pairs are no more than experts; counts are popularities scaled to all pairs, rounded, and cut
//                  at one a token; what that leaves over or lacks is dealt to the ranks in turn, to the expert with
//                  fewest (most) of each; the rank with most pairs is timed. Few tokens are therefore spread evenly
//
// The power law is the mean of kDraws draws from a fixed seed; a row is the mean of five. Source: collector/helper.py
// of ai-dynamo/aiconfigurator@095f58a.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace roofcast::calibrate {

struct RoutedTokens {
  std::int64_t tokens = 0;
  std::int64_t top_k = 0;
  std::int64_t experts = 0;
  std::int64_t ranks = 1;
  std::int64_t groups = 1;  // of experts, of which a token's choices are in at most `kept`
  std::int64_t kept = 1;
  friend auto operator<=>(const RoutedTokens&, const RoutedTokens&) = default;
};

struct ExpertLoad {
  double pairs = 0.0;
  double distinct = 0.0;  // experts with at least one pair
};

// "balanced", or "power_law_" and an exponent above 1, at most 2.
bool is_distribution(std::string_view text);

class ExpertLoads {
 public:
  // Of a text that is_distribution.
  ExpertLoad of(const RoutedTokens& routed, std::string_view distribution);

 private:
  std::map<std::pair<RoutedTokens, std::string>, ExpertLoad> known_;
};

}  // namespace roofcast::calibrate
