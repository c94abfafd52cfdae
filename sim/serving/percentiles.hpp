// SPDX-License-Identifier: Apache-2.0
//
// Percentiles of a time from its mean and variance.
//
// The time is taken as the least time plus a gamma distribution. Its percentile is Wilson and Hilferty's cube of a
// normal variable (Proc. Natl. Acad. Sci. 17, 1931):
//
//   t = least + m (1 − 1/9k + z √(1/9k))³,   m = mean − least,   k = m² / variance
//
//   symbol   meaning                                                                            unit
//   t        percentile of the time                                                             s
//   least    time that every request takes                                                      s
//   m        mean beyond the least time                                                         s
//   k        shape of the gamma distribution                                                    –
//   z        the same percentile of a standard normal variable                                  –
#pragma once

#include <cmath>

#include "sim/result/steady_state.hpp"

namespace roofcast::sim {

// `variance` in s². `normal` is z, beyond is m, ninth is 1/9k, root is the bracket. The mean, if there is no variance.
inline base::Seconds percentile(base::Seconds mean, double variance, base::Seconds least,
                                double normal) {
  const double beyond = (mean - least) / base::second;
  if (!(variance > 0.0) || !(beyond > 0.0)) {
    return mean;
  }
  const double ninth = variance / (9.0 * beyond * beyond);
  const double root = std::fmax(0.0, 1.0 - ninth + normal * std::sqrt(ninth));
  return least + base::Seconds::from_si(beyond * root * root * root);
}

inline constexpr double kNormal95 = 1.6448536269514722;
inline constexpr double kNormal99 = 2.3263478740408408;

// p95 and p99. `variance` in s².
inline Tail tail_of(base::Seconds mean, double variance, base::Seconds least) {
  return {percentile(mean, variance, least, kNormal95),
          percentile(mean, variance, least, kNormal99)};
}

}  // namespace roofcast::sim
