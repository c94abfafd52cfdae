// SPDX-License-Identifier: Apache-2.0
//
// The volume that a set of points dominates: one number for the quality of a set of trade-offs.
//
// Every coordinate is better when it is less. The hypervolume of points p against a reference r is the volume
// of the union of the boxes [p, r] (Zitzler and Thiele, 1999). It grows with every point that nothing in the
// set dominates, and with no other.
//
//   d <= 2  a sort, O(n log n)
//   d = 3   a sweep with a staircase in a balanced tree, O(n log n) (Beume et al., 2009)
//   d >= 4  exclusive volumes of limited sets, WFG (While, Bradstreet and Barone, 2012), down to d = 3:
//           exponential in d at worst, fine for some thousands of points in four dimensions
#pragma once

#include <span>

namespace roofcast::base {

// `points` is row-major with reference.size() coordinates a point, in any order; points may repeat. A point that is not
// better than the reference in every coordinate, or has a NaN, adds nothing. An infinitely good point makes the volume
// infinite. Throws std::invalid_argument where the sizes do not fit or a coordinate of the reference is not finite.
double hypervolume(std::span<const double> points, std::span<const double> reference);

}  // namespace roofcast::base
