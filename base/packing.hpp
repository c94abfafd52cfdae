// SPDX-License-Identifier: Apache-2.0
//
// Packs sizes into bins that hold at most a budget. A size beyond the budget gets a bin of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace roofcast::base {

struct Bin {
  std::int64_t size = 0;           // sum of its items
  std::vector<std::size_t> items;  // positions in the sizes, in the order in which they were put in
};
using Bins = std::vector<Bin>;

// First fit decreasing: the largest size first, each into the first bin with space for it. Of equal sizes the earlier
// goes first. Needs at most 11/9 of the fewest bins, plus one (Johnson 1973). O(n log n).
Bins packed_by_size(std::span<const std::int64_t> sizes, std::int64_t budget);

// Next fit: one bin is open. Of the next `window` sizes that wait, the first that fits goes into it; if none fits, the
// next bin opens with the first that waits. With a window of 1, bins hold neighbours in order, and no cut into
// neighbours needs fewer bins. `window` is at least 1. O(n · window).
Bins packed_as_they_come(std::span<const std::int64_t> sizes, std::int64_t budget,
                         std::size_t window = 1);

// Bins of neighbours, in order: the fewest bins. Of all ways to have so few, one whose fullest bin is least full.
// Exact, by bisection of the fullest bin.
Bins packed_in_order(std::span<const std::int64_t> sizes, std::int64_t budget);

}  // namespace roofcast::base
