// SPDX-License-Identifier: Apache-2.0
#include "sim/numerics/sum_error.hpp"

#include <algorithm>
#include <cmath>

namespace roofcast::sim {

double SumError::of(double k) const {
  const double unit = std::exp2(cuts ? 1.0 - bits : -bits);
  const double cut = promotion > 0.0 ? std::min(k, promotion) : k;
  const double promotions = promotion > 0.0 ? k / promotion : 0.0;
  return std::max(1.0, cut / depth) * unit + promotions * std::exp2(-24.0);
}

}  // namespace roofcast::sim
