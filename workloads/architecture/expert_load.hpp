// SPDX-License-Identifier: Apache-2.0
//
// How evenly tokens fall on experts, and on the ranks that hold the experts.
//
// A model says it in one of three ways (`expert_load:`):
//
//   variation   popularities are gamma distributed with this coefficient of variation
//   zipf        the i-th most popular expert is chosen in proportion to i^-zipf
//   counts      measured tokens of each expert of a layer, in the order in which ranks hold the experts
//
// Every layer has the same popularities. Exponent 0, variation 0 and equal counts are all the even load.
//
// Where ranks take experts by index, popular experts meet on a rank by chance. `balanced` is EPLB
// (deepseek-ai/EPLB, its global policy). Each of `redundant` copies goes to the expert with the greatest load
// a copy. Then the copies, the fullest first, go to the emptiest rank with a free slot. Tokens share the
// copies of an expert evenly. The loads are assumed to be known and constant. Hierarchical packing, which
// keeps groups of experts on a node, is not modelled.
#pragma once

#include <cstdint>
#include <vector>

#include "base/document/fields.hpp"

namespace roofcast::workloads {

struct ExpertPopularity {
  double variation = 0.0;
  double zipf = 0.0;
  std::vector<double> counts;  // in any unit: only their ratios count
  bool operator==(const ExpertPopularity&) const = default;
};

void read(base::Fields& f, ExpertPopularity& popularity);

struct ExpertPlacement {
  std::int64_t ranks = 1;  // the ranks that share all experts
  bool balanced = false;
  std::int64_t redundant = 0;  // copies beyond one of each expert; only where balanced
  bool operator==(const ExpertPlacement&) const = default;
};

// The load of one rank when `tokens` tokens each choose top_k experts.
struct ExpertLoad {
  double pairs = 0.0;     // (token, expert) pairs
  double distinct = 0.0;  // experts (copies) with at least one pair
};

// The load of the mean rank:
//
//   pairs    = tokens · top_k / ranks
//   distinct = experts/ranks · (1 − (1 + tokens·((1−p)^(−v²) − 1))^(−1/v²))
//            = experts/ranks · (1 − (1−p)^tokens)                              at v = 0
//
//   p  –  top_k / experts: probability that a token chooses an expert, on average
//   v  –  coefficient of variation of the popularities, which are gamma distributed around p
ExpertLoad mean_load(double tokens, std::int64_t top_k, std::int64_t experts, std::int64_t ranks,
                     double variation);

// A router that first keeps some of as many equal groups of experts, and then chooses among the experts of these. Where
// ranks take experts by index, a token then brings more pairs to fewer ranks.
struct ExpertGroups {
  std::int64_t count = 1;
  std::int64_t kept = 1;
  bool operator==(const ExpertGroups&) const = default;
};

// The load of the rank with most pairs, for which the others wait. Even experts are not even in a batch: by chance some
// rank has more of its tokens, and of few tokens much more. Training balances each batch: without `chance` the second
// terms of both sums are 0.
//
//   pairs    = mean + √(popular² + z²·tokens·s²)
//   distinct = mean + z·√(m·q·(1 − q) + m·(m − 1)·(a^tokens − b^tokens)), at most m
//
//     z        –  expected largest of `ranks` standard normal numbers
//     s²       –  variance of the pairs that one token brings to a rank: of top_k draws without return from the
//                 experts of the kept groups, and of the share of these experts that the rank has
//     m        –  experts (copies) of a rank
//     q        –  share of them that have a pair in the mean
//     a, b     –  probability that a token chooses neither of two experts of a rank, with groups and without
//     popular  –  what popularity adds: with a variation by index z·mean·v/√m. Else mean·(load of the busiest
//                 rank / load of the mean rank − 1): counts in their order, a distribution by index as the mean
//                 over shuffles. The mean of distinct is then Σ over copies (1 − (1 − pᵢ/rᵢ)^tokens) / ranks
//                   pᵢ  –  probability that a token chooses expert i, at most 1
//                   rᵢ  –  copies of expert i
//
// Errors: within 6 % of drawn batches of 16 tokens and more on 4 to 16 ranks, and 13 % of 4 tokens, of which it
// has too few.
struct RankLoads {
  ExpertLoad mean, busiest;
};
RankLoads rank_loads(double tokens, std::int64_t top_k, std::int64_t experts,
                     const ExpertGroups& groups, const ExpertPopularity& popularity,
                     const ExpertPlacement& placement, bool chance);

}  // namespace roofcast::workloads
