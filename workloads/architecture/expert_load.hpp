// SPDX-License-Identifier: Apache-2.0
//
// How evenly tokens fall on experts, and on the ranks that hold them.
//
// Said of a model in one of three ways (`expert_load:`):
//   variation   popularities are gamma distributed with this coefficient of variation
//   zipf        the i-th most popular expert is chosen in proportion to i^-zipf
//   counts      tokens that each expert of a layer was seen to get, in the order in which ranks hold them
// Experts differ as much in every layer. Exponent 0, variation 0 and equal counts are the same even load.
//
// Where ranks take experts by index, popular ones meet by chance. `balanced` is EPLB (deepseek-ai/EPLB, its
// global policy): each of `redundant` copies goes to the expert with the greatest load a copy, then copies, the
// fullest first, to the emptiest rank with a free slot; tokens share an expert's copies evenly. Its loads are
// taken as known and constant; hierarchical packing, which keeps groups of experts on a node, is not modelled.
#pragma once

#include <cstdint>
#include <vector>

#include "base/document/fields.hpp"

namespace roofcast::workloads {

struct ExpertPopularity {
  double variation = 0.0;
  double zipf = 0.0;
  std::vector<double> counts;  // in any unit
  bool operator==(const ExpertPopularity&) const = default;
};

void read(base::Fields& f, ExpertPopularity& popularity);

struct ExpertPlacement {
  std::int64_t ranks = 1;  // that share all experts
  bool balanced = false;
  std::int64_t redundant = 0;  // copies beside one of each expert; only where balanced
  bool operator==(const ExpertPlacement&) const = default;
};

// What one rank gets of `tokens` tokens that each choose top_k experts.
struct ExpertLoad {
  double pairs = 0.0;     // of a token and an expert
  double distinct = 0.0;  // experts (copies) with a pair, or more
};

// Of the mean rank. An expert is hit by a token with probability p = top_k / experts on average; popularities
// are gamma distributed around it with the coefficient of variation v, so that
//   distinct = experts/ranks · (1 − (1 + tokens·((1−p)^(−v²) − 1))^(−1/v²)),    1 − (1−p)^tokens at v = 0
ExpertLoad mean_load(double tokens, std::int64_t top_k, std::int64_t experts, std::int64_t ranks,
                     double variation);

// Of the rank with most pairs, which the others wait for; distinct experts are the mean rank's, as in servers of
// few clients, which show no more. Chance adds more where pairs are few.
//   variation, by index   the mean and as many standard deviations of the popularity of a rank's experts as the
//                         largest of so many normal numbers is expected to have
//   else                  pairs of the mean times the busiest rank's share of the load over the mean one: of counts as
//                         they are, of a distribution by index the mean over shuffles; distinct is Σ 1 − (1 − pᵢ/rᵢ)^tokens
//                         over the copies, pᵢ at most 1 and rᵢ the copies of the expert
ExpertLoad busiest_load(double tokens, std::int64_t top_k, std::int64_t experts,
                        const ExpertPopularity& popularity, const ExpertPlacement& placement);

}  // namespace roofcast::workloads
