// SPDX-License-Identifier: Apache-2.0
#include "workloads/traffic/arrivals.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace roofcast::workloads {

void read(base::Fields& f, Arrivals& arrivals) {
  f.choice<ArrivalProcess>("process", arrivals.process,
                           {{"poisson", ArrivalProcess::poisson},
                            {"constant", ArrivalProcess::constant},
                            {"gamma", ArrivalProcess::gamma},
                            {"mmpp", ArrivalProcess::mmpp}});
  if (arrivals.process != ArrivalProcess::mmpp) {
    f.quantity("rate", arrivals.rate);
    if (arrivals.process == ArrivalProcess::gamma) {
      f.number("cv", arrivals.cv, base::positive);
    }
    return;
  }
  f.quantities("rates", arrivals.rates, base::not_negative);
  f.quantities("sojourns", arrivals.sojourns);
  if (arrivals.rates.size() != arrivals.sojourns.size()) {
    f.problem("sojourns", "must be as many as rates: the mean time in each phase");
  } else if (f.has("rates") && std::none_of(arrivals.rates.begin(), arrivals.rates.end(),
                                            [](base::Hertz r) { return r.si() > 0.0; })) {
    f.problem("rates", "at least one must be more than 0");
  }
}

base::Hertz mean_rate(const Arrivals& arrivals) {
  if (arrivals.process != ArrivalProcess::mmpp) {
    return arrivals.rate;
  }
  double requests = 0.0;
  base::Seconds cycle;
  for (std::size_t i = 0; i < arrivals.rates.size(); ++i) {
    requests += arrivals.rates[i] * arrivals.sojourns[i];
    cycle += arrivals.sojourns[i];
  }
  return requests / cycle;
}

Burstiness burstiness(const Arrivals& arrivals) {
  const base::Hertz mean = mean_rate(arrivals);
  switch (arrivals.process) {
    case ArrivalProcess::constant:
      return {0.0, 2.0 * mean};
    case ArrivalProcess::poisson:
      return {1.0, mean};
    case ArrivalProcess::gamma:
      return {arrivals.cv * arrivals.cv, arrivals.cv > 1.0 ? mean : 2.0 * mean, arrivals.cv > 1.0};
    case ArrivalProcess::mmpp:
      break;
  }
  // V is Σ π(r − λ)·g, where g solves Poisson's equation of the phases. Phase i is followed by i + 1 only, so g is a
  // running sum. Its constant is open and multiplies Σ π(r − λ) = 0.
  //
  //   cycle     s    Σ sojourns
  //   more      1/s  r − λ
  //   ahead     –    g, before phase i
  //   variance  1/s  cycle · Σ π(r − λ)²
  //   integral  –    cycle · V
  double cycle = 0.0;
  double ahead = 0.0;
  double variance = 0.0;
  double integral = 0.0;
  for (std::size_t i = 0; i < arrivals.rates.size(); ++i) {
    const double sojourn = arrivals.sojourns[i].si();
    const double more = (arrivals.rates[i] - mean).si();
    cycle += sojourn;
    variance += sojourn * more * more;
    integral += sojourn * more * ahead;
    ahead -= sojourn * more;
  }
  if (!(integral > 0.0)) {
    return {1.0, mean};
  }
  return {1.0 + 2.0 * integral / cycle / mean.si(), variance / integral * base::hertz};
}

Arrivals arrivals_with(base::Hertz rate, const Burstiness& b) {
  Arrivals arrivals;
  arrivals.rate = rate;
  if (b.limit <= 1.0) {
    arrivals.process = b.limit == 1.0  ? ArrivalProcess::poisson
                       : b.limit > 0.0 ? ArrivalProcess::gamma
                                       : ArrivalProcess::constant;
    arrivals.cv = b.limit > 0.0 ? std::sqrt(b.limit) : 1.0;
    return arrivals;
  }
  // The share of the time in the busy phase, q, and the rates of both phases.
  const double mean = rate.si();
  const double variance = b.fading.si() * mean * 0.5 * (b.limit - 1.0);
  const bool silent = variance > mean * mean;
  const double q = silent ? mean * mean / (mean * mean + variance) : 0.5;
  const double busy = silent ? mean / q : mean + std::sqrt(variance);
  const double calm = silent ? 0.0 : mean - std::sqrt(variance);
  arrivals.process = ArrivalProcess::mmpp;
  arrivals.rates = {busy * base::hertz, calm * base::hertz};
  arrivals.sojourns = {1.0 / ((1.0 - q) * b.fading), 1.0 / (q * b.fading)};
  return arrivals;
}

double Burstiness::dispersion(base::Seconds window) const {
  const double x = fading * window;
  if (clusters) {
    const double h = 6.0 * x / (limit + 1.0) + 0.64 * std::pow(x, 0.62 / std::sqrt(limit));
    return 1.0 + (limit - 1.0) * h / (1.0 + h);
  }
  return x > 0.0 ? 1.0 + (limit - 1.0) * (1.0 + std::expm1(-x) / x) : 1.0;
}

ArrivalTimes::ArrivalTimes(Arrivals arrivals, const base::Random& random)
    : arrivals_(std::move(arrivals)), random_(random) {
  if (arrivals_.process == ArrivalProcess::mmpp) {
    std::vector<double> sojourns;
    for (const base::Seconds sojourn : arrivals_.sojourns) {
      sojourns.push_back(sojourn.si());
    }
    phase_ = base::Discrete(sojourns)(random_);
    // Memoryless: the rest of a phase is as long as a whole one.
    phase_left_s_ = random_.exponential(sojourns[phase_]);
  }
}

base::Seconds ArrivalTimes::next() {
  now_s_ += gap();
  return base::Seconds::from_si(now_s_);
}

double ArrivalTimes::gap() {
  const double rate = arrivals_.rate.si();
  switch (arrivals_.process) {
    case ArrivalProcess::constant:
      return 1.0 / rate;
    case ArrivalProcess::poisson:
      return random_.exponential(1.0 / rate);
    case ArrivalProcess::gamma: {
      const double shape = 1.0 / (arrivals_.cv * arrivals_.cv);
      return random_.gamma(shape, 1.0 / (shape * rate));
    }
    case ArrivalProcess::mmpp:
      return modulated_gap();
  }
  return 0.0;
}

double ArrivalTimes::modulated_gap() {
  double waited_s = 0.0;
  while (true) {
    const double rate = arrivals_.rates[phase_].si();
    const double gap_s = rate > 0.0 ? random_.exponential(1.0 / rate) : phase_left_s_;
    if (rate > 0.0 && gap_s < phase_left_s_) {
      phase_left_s_ -= gap_s;
      return waited_s + gap_s;
    }
    waited_s += phase_left_s_;
    phase_ = (phase_ + 1) % arrivals_.rates.size();
    phase_left_s_ = random_.exponential(arrivals_.sojourns[phase_].si());
  }
}

}  // namespace roofcast::workloads
