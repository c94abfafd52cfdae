// SPDX-License-Identifier: Apache-2.0
//
// The name a user probably meant: the second half of every "did you mean".
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace roofcast::base {

// The candidate closest to `wrong`, or nothing when none is close enough to be a slip of the
// finger.
//
// Distance is the number of single-character insertions, deletions, substitutions and swaps of
// neighbours (Damerau-Levenshtein, optimal string alignment), upper and lower case being equal.
// With L the longer of the two lengths, a distance up to max(1, L/3), but never above 6 and always
// less than the shorter length, is near. When no candidate is near, a `wrong` of three or more
// characters that begins a candidate finds it ("band" finds "bandwidth"), the shortest such
// candidate first. Ties go to the candidate that agrees better in upper and lower case, then to the
// earlier one.
std::optional<std::string> nearest_name(std::string_view wrong,
                                        std::span<const std::string> candidates);

}  // namespace roofcast::base
