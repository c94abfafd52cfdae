// SPDX-License-Identifier: Apache-2.0
#include "base/statistics/shapley.hpp"

#include <bit>

namespace roofcast::base {
namespace {

std::size_t players(std::span<const double> values) {
  return static_cast<std::size_t>(std::countr_zero(values.size()));
}

}  // namespace

std::vector<double> shapley_shares(std::span<const double> values) {
  const std::size_t n = players(values);
  // By size of a subset: the share of orders in which exactly its players come before player i.
  std::vector<double> weight(n, 0.0);
  for (std::size_t size = 0; size < n; ++size) {
    weight[size] = 1.0 / static_cast<double>(n);
    for (std::size_t i = 1; i <= size; ++i) {
      weight[size] *= static_cast<double>(i) / static_cast<double>(n - i);
    }
  }
  std::vector<double> shares(n, 0.0);
  for (std::size_t subset = 0; subset < values.size(); ++subset) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t with = subset | std::size_t{1} << i;
      if (with != subset) {
        shares[i] += weight[static_cast<std::size_t>(std::popcount(subset))] *
                     (values[with] - values[subset]);
      }
    }
  }
  return shares;
}

std::vector<std::size_t> greedy_order(std::span<const double> values,
                                      std::span<const double> takes) {
  std::vector<std::size_t> order;
  std::size_t joined = 0;
  const auto worth = [&](std::size_t i) {
    const double with = values[joined | std::size_t{1} << i];
    return takes.empty() ? with : (with - values[joined]) / takes[i];
  };
  for (std::size_t step = 0; step < players(values); ++step) {
    std::size_t best = players(values);
    for (std::size_t i = 0; i < players(values); ++i) {
      const bool in = (joined >> i & 1U) != 0;
      if (!in && (best == players(values) || worth(i) > worth(best))) {
        best = i;
      }
    }
    order.push_back(best);
    joined |= std::size_t{1} << best;
  }
  return order;
}

double interaction(std::span<const double> values, std::size_t i, std::size_t j) {
  const std::size_t a = std::size_t{1} << i;
  const std::size_t b = std::size_t{1} << j;
  return values[a | b] - values[a] - values[b] + values[0];
}

}  // namespace roofcast::base
