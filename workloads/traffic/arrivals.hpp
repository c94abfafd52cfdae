// SPDX-License-Identifier: Apache-2.0
//
// When requests arrive, as a random process:
//
//   constant   a gap of 1/rate
//   poisson    gaps are exponential with mean 1/rate
//   gamma      gaps are gamma with mean 1/rate and coefficient of variation cv: 1 is poisson, 0 would be
//              constant, more than 1 is bursty
//   mmpp       Markov-modulated: poisson with rates[i] in phase i, which lasts an exponential time with
//              mean sojourns[i] and is followed by phase i + 1, the last one by the first; starts in
//              the phase of a random instant
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
  base::Hertz rate;  // mean, of every process but mmpp
  double cv = 1.0;   // of gamma
  std::vector<base::Hertz> rates;
  std::vector<base::Seconds> sojourns;
};

void read(base::Fields& f, Arrivals& arrivals);

// Requests per second over a long time; of mmpp, the rates weighted by the sojourns.
base::Hertz mean_rate(const Arrivals& arrivals);

// How arrivals prompt_group together, told by the index of dispersion I of the number in a window w, variance over
// mean, and the number that an arrival finds on one side of it beyond the mean number there:
//
//   I(w) = 1 + (I∞ − 1)(1 − (1 − e^{−κw}) / κw)        beyond(w) = (I∞ − 1)/2 · (1 − e^{−κw})
//
// poisson     I∞ = 1
// gamma       I∞ = cv², constant 0; κ = 2 λ max(1, cv), which fits windows of a gap
// mmpp        I∞ = 1 + 2V/λ, κ = Σ π(r − λ)² / V, with stationary phases π, rates r, mean λ and
//             V = ∫ cov(r(0), r(t)) dt: exact for two phases, else in long windows
//
// Sources: Cox, Lewis: The Statistical Analysis of Series of Events (1966), 4.5; Fischer, Meier-Hellstern: The
// Markov-modulated Poisson process (MMPP) cookbook, Performance Evaluation 18, 1993.
struct Burstiness {
  double limit = 1.0;  // I∞
  base::Hertz fading;  // κ
  double dispersion(base::Seconds window) const;
  double beyond(base::Seconds window) const;
};
Burstiness burstiness(const Arrivals& arrivals);

// The instants one after another, the first of them one gap after 0.
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
