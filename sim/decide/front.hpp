// SPDX-License-Identifier: Apache-2.0
//
// What a Pareto front is worth, and which of its points to look at. Points are rows of one value an
// objective, as in sim/decide/pareto.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/decide/pareto.hpp"
#include "sim/decide/result_comparison.hpp"

namespace roofcast::sim {

// Fewer points that stand for all: for every point there is a chosen one that is worse by no more
// than the tolerance in any objective (relative ones by the factor 1 + tolerance). Values are
// divided into boxes of that size, boxes that another dominates go, and of each box that stays the
// point is kept that is best in the first objective, then the second, ... (Laumanns et al., 2002).
// A tolerance of 0 tells all values apart. Positions by growing number; points with a NaN or an infinity have none.
std::vector<std::size_t> epsilon_front(std::span<const double> values,
                                       std::span<const Direction> directions,
                                       std::span<const Tolerance> tolerances,
                                       std::span<const std::uint32_t> groups = {});

// The best and the worst finite value of every objective; NaN where there is none.
struct Extent {
  std::vector<double> best;
  std::vector<double> worst;
};
Extent extent(std::span<const double> values, std::span<const Direction> directions);

// The share of the box between the best values and the reference that the points dominate
// (base/statistics/hypervolume.hpp): 1 when one point is best in everything. An objective in which best and
// reference agree does not count. NaN when none counts.
double dominated_share(std::span<const double> values, std::span<const Direction> directions,
                       std::span<const double> best, std::span<const double> reference);

// The point that gives up least: objectives scaled to 0 (best of the points) .. 1 (worst), the
// least sum. With two objectives that is the point farthest from the line through the ends. The
// first of equals; points that are not finite do not count. kNowhere without any.
std::size_t knee(std::span<const double> values, std::span<const Direction> directions);

// Two fronts of the same objectives.
struct FrontMove {
  // The old points that a new one dominates, equals, or neither; and the new ones by the old.
  struct Outcome {
    std::size_t beaten = 0;
    std::size_t equalled = 0;
    std::size_t unmatched = 0;
  };
  Outcome old_points;
  Outcome new_points;
  // At equal objectives: for each objective, of the old points that a new point is nowhere worse
  // than in the other objectives, by what factor the best such new point moves it. Sorted. Looked
  // at are at most kShiftPoints old points, evenly chosen.
  std::vector<std::vector<double>> shifts;
};
inline constexpr std::size_t kShiftPoints = 2000;
FrontMove compare_fronts(std::span<const double> old_front, std::span<const double> new_front,
                         std::span<const Direction> directions);

}  // namespace roofcast::sim
