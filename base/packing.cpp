// SPDX-License-Identifier: Apache-2.0
#include "base/packing.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace roofcast::base {
namespace {

// The space left in each of many bins, as a tree: a node has the most of the bins below it.
class Space {
 public:
  Space(std::size_t bins, std::int64_t budget)
      : leaves_(std::bit_ceil(bins)), most_(2 * leaves_, budget) {}

  // The first bin that has so much space. There must be one.
  std::size_t first_with(std::int64_t size) const {
    std::size_t node = 1;
    while (node < leaves_) {
      node *= 2;
      node += most_[node] < size ? 1 : 0;
    }
    return node - leaves_;
  }

  void take(std::size_t bin, std::int64_t size) {
    std::size_t node = leaves_ + bin;
    most_[node] -= size;
    while (node > 1) {
      node /= 2;
      most_[node] = std::max(most_[2 * node], most_[2 * node + 1]);
    }
  }

 private:
  std::size_t leaves_;
  std::vector<std::int64_t> most_;
};

}  // namespace

Bins packed_by_size(std::span<const std::int64_t> sizes, std::int64_t budget) {
  std::vector<std::size_t> sorted(sizes.size());
  std::iota(sorted.begin(), sorted.end(), std::size_t{0});
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
  Bins bins;
  Space space(sizes.size(), budget);
  for (const std::size_t item : sorted) {
    const std::int64_t needed = std::min(sizes[item], budget);  // beyond it: the whole of a bin
    const std::size_t bin = space.first_with(needed);
    space.take(bin, needed);
    bins.resize(std::max(bins.size(), bin + 1));
    bins[bin].size += sizes[item];
    bins[bin].items.push_back(item);
  }
  return bins;
}

Bins packed_as_they_come(std::span<const std::int64_t> sizes, std::int64_t budget,
                         std::size_t window) {
  Bins bins;
  std::vector<std::size_t> waiting;
  for (std::size_t next = 0;;) {
    while (waiting.size() < window && next < sizes.size()) {
      waiting.push_back(next++);
    }
    if (waiting.empty()) {
      return bins;
    }
    auto chosen = std::find_if(waiting.begin(), waiting.end(), [&](std::size_t item) {
      return !bins.empty() && bins.back().size + sizes[item] <= budget;
    });
    if (chosen == waiting.end()) {
      bins.emplace_back();
      chosen = waiting.begin();
    }
    bins.back().size += sizes[*chosen];
    bins.back().items.push_back(*chosen);
    waiting.erase(chosen);
  }
}

Bins packed_in_order(std::span<const std::int64_t> sizes, std::int64_t budget) {
  if (sizes.empty()) {
    return {};
  }
  const std::size_t fewest = packed_as_they_come(sizes, budget).size();
  std::int64_t low = *std::max_element(sizes.begin(), sizes.end());
  std::int64_t high = std::max(low, budget);
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (packed_as_they_come(sizes, middle).size() <= fewest) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return packed_as_they_come(sizes, low);
}

}  // namespace roofcast::base
