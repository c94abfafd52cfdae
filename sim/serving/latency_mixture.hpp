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

#include "sim/result/steady_state.hpp"

namespace roofcast::sim {

class LatencyMixture {
 public:
  // Times in s, variance in s².
  void add(double weight, double mean, double variance, double least);

  // Adds an independent time to every part.
  void shift(double mean, double variance, double least);

  // This with probability `share`, else the other.
  void merge(double share, const LatencyMixture& other);

  double mean() const;                     // s
  double variance() const;                 // s²
  double share_within(double time) const;  // P(t ≤ time)
  base::Seconds quantile(double share) const;
  Tail tail() const { return {quantile(0.95), quantile(0.99)}; }

 private:
  struct Part {
    double weight;
    double mean;
    double variance;
    double least;
  };
  std::vector<Part> parts_;
  double weight_ = 0;
};

}  // namespace roofcast::sim
