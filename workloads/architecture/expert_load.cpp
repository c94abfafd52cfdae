// SPDX-License-Identifier: Apache-2.0
#include "workloads/architecture/expert_load.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

#include "base/integers.hpp"
#include "base/statistics/random.hpp"

namespace roofcast::workloads {
namespace {

using base::as_double;
using Loads = std::vector<double>;

// Expected largest of n = 2^i standard normal numbers: n ∫ x φ(x) Φ(x)^(n−1) dx.
constexpr double kLargest[] = {0.0,    0.5642, 1.0294, 1.4236, 1.7660, 2.0697,
                               2.3437, 2.5946, 2.8269, 3.0439, 3.2482};

double largest_of(double numbers) {
  constexpr std::size_t kLast = std::size(kLargest) - 1;
  const double place = std::min(std::log2(numbers), static_cast<double>(kLast));
  const auto below = std::min(static_cast<std::size_t>(place), kLast - 1);
  const double beyond = place - static_cast<double>(below);
  return (1.0 - beyond) * kLargest[below] + beyond * kLargest[below + 1];
}

// Quantiles of a gamma distribution with mean 1: many draws are sorted and cut into equal parts; their means.
Loads gamma_quantiles(std::size_t parts, double variation) {
  constexpr std::size_t kEach = 64;
  base::Random random(1, "expert popularity");
  const double shape = 1.0 / (variation * variation);
  Loads draws(parts * kEach);
  std::generate(draws.begin(), draws.end(), [&] { return random.gamma(shape, 1.0 / shape); });
  std::sort(draws.begin(), draws.end(), std::greater<>());
  Loads means(parts);
  for (std::size_t i = 0; i < parts; ++i) {
    const auto first = draws.begin() + static_cast<std::ptrdiff_t>(i * kEach);
    means[i] = std::accumulate(first, first + kEach, 0.0) / static_cast<double>(kEach);
  }
  return means;
}

// The probability that a token chooses each expert: in proportion to its popularity, at most 1, and top_k in sum.
// Experts come in the order of popularity. Each takes its part of the `choices` that are left, in proportion to its
// share of the popularity that is left (`rest`).
Loads chances_of(const ExpertPopularity& popularity, std::int64_t experts, std::int64_t top_k) {
  Loads loads = popularity.counts;
  if (loads.empty() && popularity.variation > 0.0) {
    loads = gamma_quantiles(static_cast<std::size_t>(experts), popularity.variation);
  } else if (loads.empty()) {
    for (std::int64_t place = 1; place <= experts; ++place) {
      loads.push_back(std::pow(as_double(place), -popularity.zipf));
    }
  }
  std::vector<std::size_t> order(loads.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return loads[a] > loads[b]; });
  double rest = std::accumulate(loads.begin(), loads.end(), 0.0);
  double choices = as_double(top_k);
  for (const std::size_t expert : order) {
    const double chance = rest > 0.0 ? std::clamp(choices * loads[expert] / rest, 0.0, 1.0) : 0.0;
    rest -= loads[expert];
    choices -= chance;
    loads[expert] = chance;
  }
  return loads;
}

// The load of the fullest rank when every rank takes as many experts, in their order.
double fullest_in_order(const Loads& loads, std::int64_t ranks) {
  Loads of_rank(static_cast<std::size_t>(ranks), 0.0);
  for (std::size_t i = 0; i < loads.size(); ++i) {
    of_rank[i * of_rank.size() / loads.size()] += loads[i];
  }
  return *std::max_element(of_rank.begin(), of_rank.end());
}

double fullest_of_shuffles(Loads loads, std::int64_t ranks) {
  constexpr int kShuffles = 64;
  base::Random random(1, "expert placement");
  double sum = 0.0;
  for (int shuffle = 0; shuffle < kShuffles; ++shuffle) {
    for (std::size_t last = loads.size() - 1; last > 0; --last) {
      const std::int64_t other = random.integer(0, static_cast<std::int64_t>(last));
      std::swap(loads[last], loads[static_cast<std::size_t>(other)]);
    }
    sum += fullest_in_order(loads, ranks);
  }
  return sum / kShuffles;
}

// One load for each copy of each expert.
Loads replicated(const Loads& loads, std::int64_t redundant) {
  std::vector<double> copies(loads.size(), 1.0);
  for (std::int64_t copy = 0; copy < redundant; ++copy) {
    std::size_t hottest = 0;
    for (std::size_t i = 1; i < loads.size(); ++i) {
      hottest = loads[i] / copies[i] > loads[hottest] / copies[hottest] ? i : hottest;
    }
    copies[hottest] += 1.0;
  }
  Loads each;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    each.insert(each.end(), static_cast<std::size_t>(copies[i]), loads[i] / copies[i]);
  }
  return each;
}

// The load of the fullest rank when the greatest loads come first and each goes to the emptiest rank with a free slot.
double fullest_packed(Loads loads, std::int64_t ranks) {
  std::sort(loads.begin(), loads.end(), std::greater<>());
  const std::int64_t slots = base::ceil_div(std::ssize(loads), ranks);
  Loads of_rank(static_cast<std::size_t>(ranks), 0.0);
  std::vector<std::int64_t> held(of_rank.size(), 0);
  for (const double load : loads) {
    std::size_t emptiest = of_rank.size();
    for (std::size_t rank = 0; rank < of_rank.size(); ++rank) {
      if (held[rank] < slots && (emptiest == of_rank.size() || of_rank[rank] < of_rank[emptiest])) {
        emptiest = rank;
      }
    }
    of_rank[emptiest] += load;
    ++held[emptiest];
  }
  return *std::max_element(of_rank.begin(), of_rank.end());
}

struct PlacedExperts {
  ExpertPopularity popularity;
  ExpertPlacement placement;
  std::int64_t experts = 0;
  std::int64_t top_k = 0;
  double busiest = 1.0;  // load of the fullest rank / load of the mean rank
  Loads log_missed;      // ln(1 − pᵢ/rᵢ) of each copy: one token misses it
};

PlacedExperts placed(const ExpertPopularity& popularity, const ExpertPlacement& placement,
                     std::int64_t experts, std::int64_t top_k) {
  PlacedExperts p{popularity, placement, experts, top_k, 1.0, {}};
  Loads loads = chances_of(popularity, experts, top_k);
  const double mean = as_double(top_k) / as_double(placement.ranks);
  if (placement.balanced) {
    loads = replicated(loads, placement.redundant);
    p.busiest = fullest_packed(loads, placement.ranks) / mean;
  } else if (!popularity.counts.empty()) {
    p.busiest = fullest_in_order(loads, placement.ranks) / mean;
  } else {
    p.busiest = fullest_of_shuffles(loads, placement.ranks) / mean;
  }
  constexpr double kMostCertain = 1.0 - 1e-12;
  for (const double load : loads) {
    p.log_missed.push_back(std::log1p(-std::min(load, kMostCertain)));
  }
  return p;
}

// A program asks for few models and mappings in turn, and at every iteration: the last ones are cached.
const PlacedExperts& cached(const ExpertPopularity& popularity, const ExpertPlacement& placement,
                            std::int64_t experts, std::int64_t top_k) {
  constexpr std::size_t kKept = 8;
  thread_local std::vector<PlacedExperts> kept;
  thread_local std::size_t next = 0;
  for (const PlacedExperts& p : kept) {
    if (p.placement == placement && p.experts == experts && p.top_k == top_k &&
        p.popularity == popularity) {
      return p;
    }
  }
  if (kept.size() < kKept) {
    kept.reserve(kKept);
    return kept.emplace_back(placed(popularity, placement, experts, top_k));
  }
  PlacedExperts& oldest = kept[next++ % kKept];
  oldest = placed(popularity, placement, experts, top_k);
  return oldest;
}

// s² of the header.
//
//   uneven   –  variance of the share of a token's kept experts that a rank has: a group, a part of one, or several
//   choices  –  experts of the kept groups
double variance_of_pairs(std::int64_t top_k, std::int64_t experts, const ExpertGroups& groups,
                         double ranks) {
  const double even = 1.0 / ranks;
  const double count = as_double(groups.count);
  const double kept = as_double(groups.kept);
  const double uneven = ranks >= count
                            ? even * even * (count / kept - 1.0)
                            : even * (1.0 - even) * (count - kept) / ((count - 1.0) * kept);
  const double choices = as_double(experts) * kept / count;
  const double k = as_double(top_k);
  return k * k * uneven +
         k * (even - even * even - uneven) * (choices - k) / std::max(1.0, choices - 1.0);
}

// Probability that no token chooses either of two experts of a rank.
double chance_of_neither(double tokens, std::int64_t top_k, std::int64_t experts,
                         const ExpertGroups& groups, double ranks) {
  const double local = as_double(experts) / ranks;
  if (local <= 1.0) {
    return 0.0;
  }
  const double pairs = as_double(top_k) / ranks;  // of a token
  const double both = (variance_of_pairs(top_k, experts, groups, ranks) + pairs * pairs - pairs) /
                      (local * (local - 1.0));
  return std::pow(std::max(0.0, 1.0 - 2.0 * as_double(top_k) / as_double(experts) + both), tokens);
}

}  // namespace

void read(base::Fields& f, ExpertPopularity& popularity) {
  f.number("variation", popularity.variation, base::not_negative, base::optional);
  f.number("zipf", popularity.zipf, base::not_negative, base::optional);
  f.numbers("counts", popularity.counts, base::not_negative, base::optional);
  int given = 0;
  for (const char* key : {"variation", "zipf", "counts"}) {
    given += f.has(key) ? 1 : 0;
  }
  if (given != 1) {
    f.problem("variation", "one of variation, zipf and counts is expected");
  }
  if (!popularity.counts.empty() &&
      std::accumulate(popularity.counts.begin(), popularity.counts.end(), 0.0) == 0.0) {
    f.problem("counts", "nobody chose any expert");
  }
  f.source();
}

// hit     –  p
// local   –  experts of a rank
// missed  –  share of experts without a pair
ExpertLoad mean_load(double tokens, std::int64_t top_k, std::int64_t experts, std::int64_t ranks,
                     double variation) {
  const double hit = as_double(top_k) / as_double(experts);
  const double local = as_double(experts) / as_double(ranks);
  const double variance = variation * variation;
  const double missed =
      variance > 0.0
          ? std::pow(1.0 + tokens * (std::pow(1.0 - hit, -variance) - 1.0), -1.0 / variance)
          : std::pow(1.0 - hit, tokens);
  return {tokens * hit * local, local * (1.0 - missed)};
}

RankLoads rank_loads(double tokens, std::int64_t top_k, std::int64_t experts,
                     const ExpertGroups& groups, const ExpertPopularity& popularity,
                     const ExpertPlacement& placement, bool chance) {
  const double ranks = as_double(placement.ranks);
  const double largest = largest_of(ranks);
  ExpertLoad mean;
  double popular = 0.0;
  double local = as_double(experts) / ranks;
  if (!placement.balanced && popularity.zipf == 0.0 && popularity.counts.empty()) {
    mean = mean_load(tokens, top_k, experts, placement.ranks, popularity.variation);
    popular = largest * mean.pairs * popularity.variation / std::sqrt(local);
  } else {
    const PlacedExperts& p = cached(popularity, placement, experts, top_k);
    for (const double log_missed : p.log_missed) {
      mean.distinct -= std::expm1(tokens * log_missed) / ranks;
    }
    mean.pairs = tokens * as_double(top_k) / ranks;
    popular = (p.busiest - 1.0) * mean.pairs;
    local = as_double(std::ssize(p.log_missed)) / ranks;
  }
  const double all = tokens * as_double(top_k);
  if (!chance) {
    return {mean, {std::min(mean.pairs + popular, all), mean.distinct}};
  }
  const ExpertGroups by_index = placement.balanced ? ExpertGroups{} : groups;
  const double drawn = tokens * variance_of_pairs(top_k, experts, by_index, ranks);
  const double touched = std::min(1.0, mean.distinct / local);
  const double pairs = mean.pairs + std::sqrt(popular * popular + largest * largest * drawn);
  double variance = local * touched * (1.0 - touched);
  if (by_index.count > by_index.kept) {
    const double more = chance_of_neither(tokens, top_k, experts, by_index, ranks) -
                        chance_of_neither(tokens, top_k, experts, {}, ranks);
    variance += std::max(0.0, local * (local - 1.0) * more);
  }
  const double distinct = mean.distinct + largest * std::sqrt(variance);
  return {
      mean,
      {std::min({pairs, all, tokens * std::max(1.0, local)}), std::min({distinct, local, all})}};
}

}  // namespace roofcast::workloads
