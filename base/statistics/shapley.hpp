// SPDX-License-Identifier: Apache-2.0
//
// How much each member of a team adds to the result of the team.
//
// A game gives every subset of n players a value: values[s], where bit i of s says that player i takes part.
// There are 2^n values, and n <= 20.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace roofcast::base {

// The value that a player adds, as the mean over all orders in which the players may join (Shapley, 1953):
//
//   share_i = sum over subsets S without i of |S|! (n - |S| - 1)! / n! · (v(S + i) - v(S))
//
// The shares sum to v(all) - v(none).
std::vector<double> shapley_shares(std::span<const double> values);

// An order of players: each next one adds most to the players before it, divided by what he takes if `takes` says it.
// Of equal players the first one comes first.
std::vector<std::size_t> greedy_order(std::span<const double> values,
                                      std::span<const double> takes = {});

// The value of two players together beyond the values of each alone: v(ij) - v(i) - v(j) + v(none). It is positive
// where they help each other, and negative where one makes the other needless.
double interaction(std::span<const double> values, std::size_t i, std::size_t j);

}  // namespace roofcast::base
