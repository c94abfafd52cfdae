// SPDX-License-Identifier: Apache-2.0
//
// Which members of a team earn what the team earns.
//
// A game gives every subset of n players a value: values[s], where bit i of s says that player i takes part, 2^n in
// all, n <= 20.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace roofcast::base {

// Mean of what a player adds over all orders in which they may join (Shapley, 1953):
//
//   share_i = sum over subsets S without i of |S|! (n - |S| - 1)! / n! · (v(S + i) - v(S))
//
// The shares sum to v(all) - v(none).
std::vector<double> shapley_shares(std::span<const double> values);

// Each next player is the one who adds most to those before, of equals the first.
std::vector<std::size_t> greedy_order(std::span<const double> values);

// What two players have together beyond what each has alone: v(ij) - v(i) - v(j) + v(none). More than zero where they
// help each other, less where one makes the other needless.
double interaction(std::span<const double> values, std::size_t i, std::size_t j);

}  // namespace roofcast::base
