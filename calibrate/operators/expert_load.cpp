// SPDX-License-Identifier: Apache-2.0
#include "calibrate/operators/expert_load.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "base/csv/csv.hpp"
#include "base/integers.hpp"

namespace roofcast::calibrate {
namespace {

constexpr std::string_view kPowerLaw = "power_law_";
constexpr double kMostExponent =
    2.0;  // 1.01 and 1.2 are measured; a steeper law has a shorter tail
constexpr int kDraws = 16;

using Counts = std::vector<std::int64_t>;  // pairs of each expert

ExpertLoad load_of(std::span<const std::int64_t> counts) {
  ExpertLoad load;
  for (const std::int64_t count : counts) {
    load.pairs += static_cast<double>(count);
    load.distinct += count > 0 ? 1.0 : 0.0;
  }
  return load;
}

ExpertLoad balanced(const RoutedTokens& r) {
  const std::int64_t stride = base::ceil_div(r.experts, r.top_k);
  Counts local(static_cast<std::size_t>(r.experts / r.ranks), 0);
  const auto last = static_cast<std::int64_t>(local.size());
  if (r.tokens < stride) {
    for (std::int64_t choice = 0; choice < r.tokens * r.top_k; ++choice) {
      const std::int64_t token = choice / r.top_k;
      const std::int64_t expert =
          (token * stride / r.tokens + choice % r.top_k * stride) % r.experts;
      if (expert < last) {
        ++local[static_cast<std::size_t>(expert)];
      }
    }
  } else {
    for (std::int64_t expert = 0; expert < last; ++expert) {
      std::int64_t& count = local[static_cast<std::size_t>(expert)];
      count = r.tokens / r.experts * r.top_k;
      for (std::int64_t i = 0; i < r.top_k; ++i) {
        const std::int64_t first = ((expert - i * stride) % r.experts + r.experts) % r.experts;
        count += first < r.tokens % r.experts ? 1 : 0;
      }
    }
  }
  return load_of(local);
}

// Balanced choices, one in each group, of a kernel that keeps the first groups. Scores of other experts are equal, so it
// takes the first ones for the rest.
ExpertLoad balanced_in_groups(const RoutedTokens& r) {
  const std::int64_t group = r.experts / r.groups;
  Counts local(static_cast<std::size_t>(r.experts / r.ranks), 0);
  const auto add = [&](std::int64_t expert, std::int64_t tokens) {
    if (expert < std::ssize(local)) {
      local[static_cast<std::size_t>(expert)] += tokens;
    }
  };
  for (std::int64_t i = 0; i < std::min(r.tokens, group); ++i) {
    const std::int64_t chosen = r.tokens < group ? i * group / r.tokens : i;
    const std::int64_t tokens =
        r.tokens < group ? 1 : r.tokens / group + (i < r.tokens % group ? 1 : 0);
    for (std::int64_t g = 0; g < r.kept; ++g) {
      add(chosen + g * group, tokens);
    }
    for (std::int64_t rest = r.top_k - r.kept, expert = 0; rest > 0; ++expert) {
      if (expert != chosen) {
        add(expert, tokens);
        --rest;
      }
    }
  }
  return load_of(local);
}

// p(x) ∝ x^−exponent on [low, high].
struct PowerLaw {
  double exponent, low, high;

  // The x below which `share` of all draws fall.
  double quantile(double share) const {
    const double p = 1.0 - exponent;
    const double least = std::pow(low, p);
    return std::pow((std::pow(high, p) - least) * share + least, 1.0 / p);
  }
};

// Deals `rest` pairs to the ranks in turn: one to the emptiest expert that has fewer than `most`, or, where rest
// is negative, one from the fullest.
void deal(Counts& counts, std::int64_t rest, std::int64_t ranks, std::int64_t most) {
  const std::int64_t step = rest < 0 ? -1 : 1;
  const std::ptrdiff_t local = std::ssize(counts) / ranks;
  bool dealt = true;
  while (rest != 0 && dealt) {
    dealt = false;
    for (std::ptrdiff_t rank = 0; rank < ranks && rest != 0; ++rank) {
      const auto first = counts.begin() + rank * local;
      const auto chosen = step > 0 ? std::min_element(first, first + local)
                                   : std::max_element(first, first + local);
      if (step > 0 ? *chosen < most : *chosen > 0) {
        *chosen += step;
        rest -= step;
        dealt = true;
      }
    }
  }
}

Counts drawn(const RoutedTokens& r, const PowerLaw& law, std::mt19937_64& random) {
  std::vector<double> popularity(static_cast<std::size_t>(r.experts));
  for (double& x : popularity) {
    x = law.quantile(static_cast<double>(random() >> 11U) * 0x1p-53);
  }
  const double scale = static_cast<double>(r.tokens * r.top_k) /
                       std::accumulate(popularity.begin(), popularity.end(), 0.0);
  Counts counts;
  std::int64_t over = 0;
  for (const double x : popularity) {
    const auto wanted = static_cast<std::int64_t>(std::nearbyint(x * scale));
    counts.push_back(std::min(wanted, r.tokens));
    over += wanted - counts.back();
  }
  deal(counts, over, r.ranks, r.tokens);
  const std::int64_t given = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  deal(counts, r.tokens * r.top_k - given, r.ranks, r.tokens);
  return counts;
}

ExpertLoad power_law(const RoutedTokens& r, double exponent) {
  const auto tokens = static_cast<double>(r.tokens);
  const bool many = r.tokens * r.top_k > r.experts;
  const PowerLaw law{exponent, many ? 1.0 : 0.01, many ? 0.8 * tokens : 2.0};
  std::mt19937_64 random(1);
  ExpertLoad mean;
  for (int draw = 0; draw < kDraws; ++draw) {
    const Counts counts = drawn(r, law, random);
    const auto local = static_cast<std::size_t>(r.experts / r.ranks);
    ExpertLoad busiest;
    for (std::size_t first = 0; first < counts.size(); first += local) {
      const ExpertLoad load = load_of(std::span(counts).subspan(first, local));
      busiest = load.pairs > busiest.pairs ? load : busiest;
    }
    mean.pairs += busiest.pairs / kDraws;
    mean.distinct += busiest.distinct / kDraws;
  }
  return mean;
}

// Nothing where the text is no power law.
std::optional<double> exponent_of(std::string_view distribution) {
  return distribution.starts_with(kPowerLaw)
             ? base::parse_number(std::string(distribution.substr(kPowerLaw.size())))
             : std::nullopt;
}

}  // namespace

bool is_distribution(std::string_view text) {
  const std::optional<double> exponent = exponent_of(text);
  return text == "balanced" || (exponent && *exponent > 1.0 && *exponent <= kMostExponent);
}

ExpertLoad ExpertLoads::of(const RoutedTokens& routed, std::string_view distribution) {
  const auto [at, added] = known_.try_emplace({routed, std::string(distribution)});
  if (const auto exponent = exponent_of(distribution); added && exponent) {
    at->second = power_law(routed, *exponent);
  } else if (added) {
    at->second = routed.groups > 1 && routed.groups == routed.top_k ? balanced_in_groups(routed)
                                                                    : balanced(routed);
  }
  return at->second;
}

}  // namespace roofcast::calibrate
