// SPDX-License-Identifier: Apache-2.0
#include "base/packing.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/statistics/random.hpp"
#include "tests/catch.hpp"

namespace roofcast::base::unit_base_packing {
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

// The fewest bins of all ways to put sizes into bins: of each set of sizes the fewest bins, and then the least full
// last one (R. Bellman 1962, in the form that is known of the travelling salesman).
std::size_t fewest(const Sizes& sizes, std::int64_t budget) {
  std::vector<std::pair<std::size_t, std::int64_t>> best(std::size_t{1} << sizes.size());
  best[0] = {1, 0};
  for (std::size_t set = 1; set < best.size(); ++set) {
    best[set].first = std::numeric_limits<std::size_t>::max();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if ((set >> i & 1U) != 0) {
        const auto [bins, last] = best[set ^ (std::size_t{1} << i)];
        best[set] = std::min(best[set], last + sizes[i] <= budget ? std::pair{bins, last + sizes[i]}
                                                                  : std::pair{bins + 1, sizes[i]});
      }
    }
  }
  return best.back().first;
}

// First fit decreasing by looking at every bin.
Bins plainly_by_size(const Sizes& sizes, std::int64_t budget) {
  std::vector<std::size_t> sorted(sizes.size());
  std::iota(sorted.begin(), sorted.end(), std::size_t{0});
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
  Bins bins;
  for (const std::size_t item : sorted) {
    auto bin = std::find_if(bins.begin(), bins.end(),
                            [&](const Bin& b) { return b.size + sizes[item] <= budget; });
    bin = bin == bins.end() ? bins.emplace(bin) : bin;
    bin->size += sizes[item];
    bin->items.push_back(item);
  }
  return bins;
}

Sizes sizes_of(const Bins& bins) {
  Sizes sizes;
  for (const Bin& bin : bins) {
    sizes.push_back(bin.size);
  }
  return sizes;
}

std::vector<std::size_t> items_of(const Bins& bins) {
  std::vector<std::size_t> items;
  for (const Bin& bin : bins) {
    items.insert(items.end(), bin.items.begin(), bin.items.end());
  }
  return items;
}

std::vector<std::size_t> numbered(std::size_t count) {
  std::vector<std::size_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  return numbers;
}

// At least one and at most `most` sizes of 1 to 50.
Sizes drawn(Random& random, std::int64_t most) {
  Sizes sizes(static_cast<std::size_t>(random.integer(1, most)));
  for (std::int64_t& size : sizes) {
    size = random.integer(1, 50);
  }
  return sizes;
}

}  // namespace

TEST_CASE("However sizes are packed, each is in one bin, and no bin has more than the budget",
          "[unit]") {
  Random random(4, "packing");
  for (int i = 0; i < 300; ++i) {
    const Sizes sizes = drawn(random, 60);
    const std::int64_t budget = random.integer(50, 200);
    const std::int64_t all = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
    for (const Bins& bins :
         {packed_by_size(sizes, budget), packed_in_order(sizes, budget),
          packed_as_they_come(sizes, budget), packed_as_they_come(sizes, budget, 7)}) {
      std::vector<std::size_t> items = items_of(bins);
      std::sort(items.begin(), items.end());
      CHECK(items == numbered(sizes.size()));
      for (const Bin& bin : bins) {
        std::int64_t sum = 0;
        for (const std::size_t item : bin.items) {
          sum += sizes[item];
        }
        CHECK(bin.size == sum);
        CHECK(bin.size <= budget);
      }
      CHECK(static_cast<std::int64_t>(bins.size()) * budget >= all);
    }
  }
}

TEST_CASE("Packing by size needs at most 11/9 of the fewest bins of all ways, plus one", "[unit]") {
  Random random(5, "packing");
  std::size_t above = 0;
  for (int i = 0; i < 300; ++i) {
    const Sizes sizes = drawn(random, 11);
    const std::int64_t budget = random.integer(50, 120);
    const std::size_t best = fewest(sizes, budget);
    const std::size_t bins = packed_by_size(sizes, budget).size();
    CHECK(bins >= best);
    CHECK(9 * bins <= 11 * best + 9);
    above += bins > best ? 1 : 0;
  }
  CHECK(above > 0);  // it is no exact method, and these cases can tell
}

TEST_CASE("Packing by size is first fit decreasing, also of many sizes", "[unit]") {
  Random random(6, "packing");
  for (int i = 0; i < 30; ++i) {
    const Sizes sizes = drawn(random, 500);
    const std::int64_t budget = random.integer(20, 120);  // some sizes are beyond it
    const Bins bins = packed_by_size(sizes, budget);
    const Bins plain = plainly_by_size(sizes, budget);
    CHECK(sizes_of(bins) == sizes_of(plain));
    CHECK(items_of(bins) == items_of(plain));
  }
}

TEST_CASE("Packing as they come keeps the order; a window lets a size go first by less than itself",
          "[unit]") {
  Random random(7, "packing");
  for (int i = 0; i < 100; ++i) {
    const Sizes sizes = drawn(random, 80);
    CHECK(items_of(packed_as_they_come(sizes, 70)) == numbered(sizes.size()));
    CHECK(items_of(packed_in_order(sizes, 70)) == numbered(sizes.size()));
    const std::vector<std::size_t> items = items_of(packed_as_they_come(sizes, 70, 4));
    for (std::size_t place = 0; place < items.size(); ++place) {
      CHECK(items[place] <= place + 3);
    }
  }
  // 60 waits; 30 goes before it, because 40 + 60 does not fit.
  const Sizes sizes{40, 60, 30, 10};
  CHECK(sizes_of(packed_as_they_come(sizes, 70)) == Sizes{40, 60, 40});
  CHECK(sizes_of(packed_as_they_come(sizes, 70, 2)) == Sizes{70, 70});
  CHECK(items_of(packed_as_they_come(sizes, 70, 2)) == std::vector<std::size_t>{0, 2, 1, 3});
}

TEST_CASE("Packing in order is the fewest bins, and the least full of these, of all ways to cut",
          "[unit]") {
  Random random(3, "packing");
  for (int i = 0; i < 300; ++i) {
    const Sizes sizes = drawn(random, 11);
    const std::int64_t budget = random.integer(50, 150);
    const Sizes bins = sizes_of(packed_in_order(sizes, budget));
    const auto [count, fullest] = best_cut(sizes, budget);
    CHECK(bins.size() == count);
    CHECK(*std::max_element(bins.begin(), bins.end()) == fullest);
    CHECK(packed_as_they_come(sizes, budget).size() == count);
  }
}

TEST_CASE("What is larger than a bin has its own", "[unit]") {
  const Sizes sizes{5, 200, 5};
  CHECK(sizes_of(packed_in_order(sizes, 100)) == Sizes{5, 200, 5});
  CHECK(sizes_of(packed_as_they_come(sizes, 100)) == Sizes{5, 200, 5});
  CHECK(sizes_of(packed_by_size(sizes, 100)) == Sizes{200, 10});
  CHECK(packed_in_order(Sizes{}, 100).empty());
  CHECK(packed_as_they_come(Sizes{}, 100).empty());
  CHECK(packed_by_size(Sizes{}, 100).empty());
}

}  // namespace roofcast::base::unit_base_packing
