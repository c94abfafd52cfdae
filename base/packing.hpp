// SPDX-License-Identifier: Apache-2.0
//
// Packs sizes into bins that hold at most a budget, and returns how full each bin is. A size beyond the
// budget gets a bin of its own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace roofcast::base {

// The largest size first, each into the first bin with space for it. Needs at most 11/9 of the fewest bins, plus one
// (Johnson 1973).
std::vector<std::int64_t> packed_by_size(std::span<const std::int64_t> sizes, std::int64_t budget);

// Bins of neighbours, in order: the fewest bins. Of all ways to have so few, one whose fullest bin is least full.
// Exact, by bisection of the fullest bin.
std::vector<std::int64_t> packed_in_order(std::span<const std::int64_t> sizes, std::int64_t budget);

}  // namespace roofcast::base
