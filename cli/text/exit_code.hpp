// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace roofcast::cli {

inline constexpr int kDone = 0;
inline constexpr int kBug = 1;
inline constexpr int kBadInput = 2;
// Under --strict, the alarm of `simulate --breach`, or a law that estimates break.
inline constexpr int kInfeasible = 3;

}  // namespace roofcast::cli
