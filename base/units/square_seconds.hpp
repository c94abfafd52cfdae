// SPDX-License-Identifier: Apache-2.0
//
// Squares of times: mean squares and variances.
#pragma once

#include <cmath>

#include "base/units/quantity.hpp"

namespace roofcast::base {

using SquareSeconds = QuantityOf<2, 0, 0, 0, 0>;

constexpr SquareSeconds square(Seconds t) { return t * t; }
inline Seconds sqrt(SquareSeconds t) { return Seconds::from_si(std::sqrt(t.si())); }

}  // namespace roofcast::base
