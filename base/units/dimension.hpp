// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/units/quantity.hpp"

namespace roofcast::base {

// A dimension at run time: the exponents of the five base units s, B, FLOP, J and USD.
struct Dimension {
  int time = 0;
  int data = 0;
  int work = 0;
  int energy = 0;
  int money = 0;

  friend constexpr bool operator==(const Dimension&, const Dimension&) = default;
};

template <int T, int D, int W, int E, int M>
constexpr Dimension dimension_of(QuantityOf<T, D, W, E, M>) {
  return {.time = T, .data = D, .work = W, .energy = E, .money = M};
}
template <class Q>
constexpr Dimension dimension_of() {
  return dimension_of(Q{});
}

}  // namespace roofcast::base
