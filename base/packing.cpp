// SPDX-License-Identifier: Apache-2.0
#include "base/packing.hpp"

#include <algorithm>
#include <functional>

namespace roofcast::base {
namespace {

using Sizes = std::vector<std::int64_t>;

// Bins of neighbours, each filled up to `most`.
Sizes greedy(std::span<const std::int64_t> sizes, std::int64_t most) {
  Sizes bins;
  for (const std::int64_t size : sizes) {
    if (bins.empty() || bins.back() + size > most) {
      bins.push_back(size);
    } else {
      bins.back() += size;
    }
  }
  return bins;
}

}  // namespace

Sizes packed_by_size(std::span<const std::int64_t> sizes, std::int64_t budget) {
  Sizes sorted(sizes.begin(), sizes.end());
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  Sizes bins;
  for (const std::int64_t size : sorted) {
    const auto fits = std::find_if(bins.begin(), bins.end(),
                                   [&](std::int64_t full) { return full + size <= budget; });
    if (fits == bins.end()) {
      bins.push_back(size);
    } else {
      *fits += size;
    }
  }
  return bins;
}

Sizes packed_in_order(std::span<const std::int64_t> sizes, std::int64_t budget) {
  if (sizes.empty()) {
    return {};
  }
  const std::size_t fewest = greedy(sizes, budget).size();
  std::int64_t low = *std::max_element(sizes.begin(), sizes.end());
  std::int64_t high = std::max(low, budget);
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (greedy(sizes, middle).size() <= fewest) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return greedy(sizes, low);
}

}  // namespace roofcast::base
