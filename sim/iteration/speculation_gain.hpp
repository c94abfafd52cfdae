// SPDX-License-Identifier: Apache-2.0
//
// The batch at which speculative decoding ceases to pay.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/iteration/iteration.hpp"

namespace roofcast::sim {

// The least number of sequences on one attention-DP rank with which speculative decoding yields no more tokens per
// second, in iterations without prompts. The numbers 1, 2, 3, 4, 6, 8, 12, … up to max_sequences are tried. nullopt if
// speculative decoding pays with all of them.
std::optional<std::int64_t> break_even(const ScenarioView& scenario, std::int64_t context,
                                       Workspace& workspace);

}  // namespace roofcast::sim
