// SPDX-License-Identifier: Apache-2.0
//
// When requests arrive in an open loop, as a random process:
//
//   constant   every gap is 1/rate
//   poisson    gaps are exponential with mean 1/rate
//   gamma      gaps are gamma with mean 1/rate and coefficient of variation cv: 1 is poisson, 0 would be
//              constant, more than 1 is bursty
//   mmpp       Markov-modulated poisson: the rate is rates[i] in phase i. A phase lasts an exponential time with
//              mean sojourns[i]; phase i + 1 follows, after the last phase the first. The process starts in the
//              phase of a random instant
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/document/fields.hpp"
#include "base/statistics/random.hpp"
#include "base/units/quantity.hpp"

namespace roofcast::workloads {

enum class ArrivalProcess : std::uint8_t { constant, poisson, gamma, mmpp };

struct Arrivals {
  ArrivalProcess process = ArrivalProcess::poisson;
  base::Hertz rate;                     // mean of constant, poisson and gamma
  double cv = 1.0;                      // of gamma
  std::vector<base::Hertz> rates;       // of mmpp
  std::vector<base::Seconds> sojourns;  // of mmpp
};

void read(base::Fields& f, Arrivals& arrivals);

// Requests per second over a long time. For mmpp, the rates weighted by the sojourns.
base::Hertz mean_rate(const Arrivals& arrivals);

// How arrivals cluster:
//
//   I(w) = 1 + (I∞ − 1) g(w)
//
//   constant, gamma of cv ≤ 1   I∞ = cv²          g = 1 − (1 − e^{−κw}) / κw,  κ = 2 λ, which fits windows of a gap
//   poisson                     I∞ = 1
//   gamma of cv > 1             I∞ = cv²          g = h / (1 + h),  h = 6λw / (I∞ + 1) + 0.64 (λw)^{0.62/cv}:
//                                                 within 0.09 of the renewal function's, in any window; exact in long
//                                                 ones. Short gaps are of all sizes, so no κ would do
//   mmpp                        I∞ = 1 + 2V/λ     g with κ = Σ π(r − λ)² / V: exact for two phases, else in long windows
//
//   w      s        length of a window
//   I(w)   –        index of dispersion: variance over mean of the number of arrivals in a window
//   I∞     –        the limit of I in long windows
//   κ      1/s      how fast I reaches its limit
//   λ      1/s      mean rate
//   π, r   –, 1/s   stationary probability and rate of a phase
//   V      1/s      ∫ cov(r(0), r(t)) dt
//
// Sources: Cox, Lewis: The Statistical Analysis of Series of Events (1966), 4.5; Cox: Renewal Theory (1962), 4.5 for
// long windows; Fischer, Meier-Hellstern: The Markov-modulated Poisson process (MMPP) cookbook, Performance
// Evaluation 18, 1993.
struct Burstiness {
  double limit = 1.0;     // I∞
  base::Hertz fading;     // κ; λ of clusters
  bool clusters = false;  // gamma of cv > 1
  double dispersion(base::Seconds window) const;
};
Burstiness burstiness(const Arrivals& arrivals);

// The process with this mean rate and burstiness. I∞ > 1: mmpp with two phases, whose rates have the variance
// κ·λ·(I∞ − 1)/2 that both imply. The phases are equally long, at λ ± the standard deviation; where that is more than λ,
// one phase is silent. I∞ ≤ 1: gamma with cv² = I∞, whose κ is its own; at 0 constant, at 1 poisson.
Arrivals arrivals_with(base::Hertz rate, const Burstiness& burstiness);

// The instants of arrivals, one after another. The first is one gap after 0.
class ArrivalTimes {
 public:
  ArrivalTimes(Arrivals arrivals, const base::Random& random);
  base::Seconds next();

 private:
  double gap();
  double modulated_gap();

  Arrivals arrivals_;
  base::Random random_;
  double now_s_ = 0.0;
  std::size_t phase_ = 0;
  double phase_left_s_ = 0.0;
};

}  // namespace roofcast::workloads
