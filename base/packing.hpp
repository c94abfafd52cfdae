// SPDX-License-Identifier: Apache-2.0
//
// Sizes into bins that hold no more than a budget: how full each bin is. A size beyond the budget has a bin of its own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace roofcast::base {

// The largest first, each into the first bin with room: within 11/9 of the fewest bins, and one (Johnson 1973).
std::vector<std::int64_t> packed_by_size(std::span<const std::int64_t> sizes, std::int64_t budget);

// Bins of neighbours, in order: the fewest, and of all ways to have so few one whose fullest is least full. Exact, by
// bisection of the fullest.
std::vector<std::int64_t> packed_in_order(std::span<const std::int64_t> sizes, std::int64_t budget);

}  // namespace roofcast::base
