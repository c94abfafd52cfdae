// SPDX-License-Identifier: Apache-2.0
#include "base/packing.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/statistics/random.hpp"
#include "tests/catch.hpp"

namespace roofcast::base {
namespace {

using Sizes = std::vector<std::int64_t>;

// Bins and the fullest of them, of the best of all 2^(n−1) ways to cut a sequence.
std::pair<std::size_t, std::int64_t> best_cut(const Sizes& sizes, std::int64_t budget) {
  std::pair<std::size_t, std::int64_t> best{std::numeric_limits<std::size_t>::max(), 0};
  for (std::uint32_t cuts = 0; cuts < (1U << (sizes.size() - 1)); ++cuts) {
    Sizes bins{sizes[0]};
    for (std::size_t i = 1; i < sizes.size(); ++i) {
      if (((cuts >> (i - 1)) & 1U) != 0) {
        bins.push_back(0);
      }
      bins.back() += sizes[i];
    }
    const std::int64_t fullest = *std::max_element(bins.begin(), bins.end());
    if (fullest <= budget) {
      best = std::min(best, std::pair{bins.size(), fullest});
    }
  }
  return best;
}

std::int64_t sum(const Sizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
}

}  // namespace

TEST_CASE("Packing in order is the fewest bins, and the least full of these, of all ways to cut",
          "[unit]") {
  Random random(3, "packing");
  for (int i = 0; i < 300; ++i) {
    Sizes sizes(1 + static_cast<std::size_t>(random.uniform() * 11.0));
    for (std::int64_t& size : sizes) {
      size = 1 + static_cast<std::int64_t>(random.uniform() * 50.0);
    }
    const std::int64_t budget = 50 + static_cast<std::int64_t>(random.uniform() * 100.0);
    const Sizes bins = packed_in_order(sizes, budget);
    const auto [count, fullest] = best_cut(sizes, budget);
    CHECK(bins.size() == count);
    CHECK(*std::max_element(bins.begin(), bins.end()) == fullest);
    CHECK(sum(bins) == sum(sizes));
    // Who may choose the order needs no more.
    const Sizes sorted = packed_by_size(sizes, budget);
    CHECK(sum(sorted) == sum(sizes));
    CHECK(*std::max_element(sorted.begin(), sorted.end()) <= budget);
    CHECK(9 * sorted.size() <= 11 * count + 9);
  }
}

TEST_CASE("What is larger than a bin has its own", "[unit]") {
  CHECK(packed_in_order(Sizes{5, 200, 5}, 100) == Sizes{5, 200, 5});
  CHECK(packed_by_size(Sizes{5, 200, 5}, 100) == Sizes{200, 10});
  CHECK(packed_in_order(Sizes{}, 100).empty());
}

}  // namespace roofcast::base
