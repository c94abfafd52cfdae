// SPDX-License-Identifier: Apache-2.0
//
// The name that a user probably meant: the second half of every "did you mean".
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roofcast::base {

// The candidate closest to `wrong`, or nothing when none is close enough to be a typing mistake.
//
// Distance is the number of single-character insertions, deletions, substitutions and swaps of neighbours
// (Damerau-Levenshtein, optimal string alignment). Upper and lower case are equal. With L the longer of the two
// lengths, a candidate is near at a distance of up to max(1, L/3), which is at most 6 and less than the shorter length.
// When no candidate is near, a `wrong` of three or more characters finds the shortest candidate that begins with it
// ("band" finds "bandwidth"). Of equal candidates, the one that agrees better in upper and lower case wins, then the
// earlier one.
std::optional<std::string> nearest_name(std::string_view wrong,
                                        std::span<const std::string> candidates);

// The candidates that have every word of `wrong`, shortest first, at most five: "llama-70b" finds "llama-3.1-70b". A word
// ends at a blank or one of - _ . and is found at the start of words, in upper or lower case.
std::vector<std::string> names_with_words(std::string_view wrong,
                                          std::span<const std::string> candidates);

// "; did you mean "a", "b" or "c"?", or nothing.
std::string did_you_mean(std::span<const std::string> names);

}  // namespace roofcast::base
