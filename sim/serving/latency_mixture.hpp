// SPDX-License-Identifier: Apache-2.0
//
// The distribution of a latency, as a mixture: each part is a least time plus a gamma distribution.
//
//   P(t ≤ x) = Σ w Φ( ((x − least)/m)^(1/3) − (1 − v) ) / √v ),   m = mean − least,   v = variance / 9m²
//
//   symbol   meaning                                                                            unit
//   w        weight of a part                                                                   –
//   least    time that every request of the part takes                                          s
//   m        mean beyond it                                                                     s
//   Φ        the standard normal distribution
//
// The cube root of a gamma variable is nearly normal (Wilson, Hilferty: Proc. Natl. Acad. Sci. 17, 1931).
#pragma once

#include <vector>

#include "base/units/square_seconds.hpp"
#include "sim/result/steady_state.hpp"

namespace roofcast::sim {

class LatencyMixture {
 public:
  LatencyMixture() = default;
  explicit LatencyMixture(std::size_t parts) { parts_.reserve(parts); }

  void add(double weight, base::Seconds mean, base::SquareSeconds variance, base::Seconds least);

  // Adds an independent time to every part.
  void shift(base::Seconds mean, base::SquareSeconds variance, base::Seconds least);

  base::Seconds mean() const;
  base::SquareSeconds variance() const;
  double share_within(base::Seconds time) const;  // P(t ≤ time)
  base::Seconds quantile(double share) const;
  Tail tail() const { return {quantile(0.95), quantile(0.99)}; }

 private:
  struct Part {
    double weight;
    base::Seconds mean;
    base::SquareSeconds variance;
    base::Seconds least;
  };
  std::vector<Part> parts_;
  double weight_ = 0;
};

}  // namespace roofcast::sim
