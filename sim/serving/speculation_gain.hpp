// SPDX-License-Identifier: Apache-2.0
//
// Where speculative decoding ceases to pay.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/iteration/iteration.hpp"

namespace roofcast::sim {

// Sequences on one attention-DP rank with which a step without prompts yields no more tokens a second than one
// without speculation does: the first of 1, 2, 3, 4, 6, 8, 12, … up to max_sequences; nullopt where all yield more.
std::optional<std::int64_t> break_even(const ScenarioView& scenario, std::int64_t context,
                                       Workspace& workspace);

}  // namespace roofcast::sim
