// SPDX-License-Identifier: Apache-2.0
//
// Which design points are worth looking at: ranks by non-dominated sorting.
//
// Point q dominates point p when q is at least as good as p in every objective and better in one.
// The points nobody dominates, the Pareto front, have rank 1; those on the front of what remains
// without rank 1 have rank 2; and so on. Equivalently, rank(p) = 1 + the highest rank among the
// points that dominate p (1 when there are none), which is what is computed here.
//
// The rank depends on values only, never on the order of the points: equal points share a rank. A
// point with a NaN or an infinity in any objective is not comparable; it gets rank 0 and dominates nothing.
// Infinities are values like others, and -0 equals 0. Points are compared within their group only.
//
// Complexity for n points with d objectives: a sort, O(n log n), and then per point
//   d <= 2  O(log n): in sorted order only the last member of a front decides, and the fronts are
//           found by bisection;
//   d >= 3  a search in a balanced k-d tree over the objectives but the first, pruned by the best
//           rank still to be found below a node: about O(log n) for max_rank = 1 on random points,
//           in the worst case that of such trees, O(d n^(1 - 1/(d-1))).
// Memory, for each point that is comparable: 8 bytes; with d >= 3 some 20 + 24 d bytes more for each of one group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace roofcast::sim {

enum class Direction { maximize, minimize };

// Points that are asked for their values, again and again: nothing of them is copied.
struct ParetoPoints {
  std::size_t size = 0;
  std::function<double(std::size_t point, std::size_t objective)> value;
  std::function<std::uint32_t(std::size_t point)> group;  // none: all are in one
};
using TakeRank = std::function<void(std::size_t point, std::uint32_t rank)>;

// Tells the rank of each point that is comparable, in any order. Ranks are told apart up to max_rank, as below. Throws
// std::invalid_argument when there is no direction, max_rank is 0, or for 2^32 - 1 points and more.
void pareto_rank(const ParetoPoints& points, std::span<const Direction> directions,
                 std::uint32_t max_rank, const TakeRank& take);

struct ParetoOptions {
  // The group of each point; empty: all are in one.
  std::span<const std::uint32_t> groups;
  // Ranks are told apart up to here, points beyond get max_rank + 1. 1 asks for the front alone,
  // which is much faster than all ranks.
  std::uint32_t max_rank = std::numeric_limits<std::uint32_t>::max() - 1;
};

// The rank of each point, 0 where it is not comparable. `values` is row-major: objective j of point i is
// values[i * d + j], with d = directions.size(). Throws std::invalid_argument also when values.size() is not a multiple
// of d, and when groups is neither empty nor one entry a point.
std::vector<std::uint32_t> pareto_rank(std::span<const double> values,
                                       std::span<const Direction> directions,
                                       const ParetoOptions& options = {});

}  // namespace roofcast::sim
