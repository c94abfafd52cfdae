// SPDX-License-Identifier: Apache-2.0
//
// Squares of times: mean squares and variances.
#pragma once

#include <cmath>

#include "base/units/quantity.hpp"

namespace roofcast::base {

using SquareSeconds = QuantityOf<2, 0, 0, 0, 0>;

template <class T>
constexpr auto square(T x) {  // of a number or a quantity
  return x * x;
}
inline Seconds sqrt(SquareSeconds t) { return Seconds::from_si(std::sqrt(t.si())); }

}  // namespace roofcast::base
