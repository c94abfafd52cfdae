// SPDX-License-Identifier: Apache-2.0
//
// Percentiles of a time that is one of several: with some probability a request waits, else it does not.
//
// Each of them is the least time plus a gamma distribution (sim/serving/percentiles.hpp). Its share below t is the
// inverse of Wilson and Hilferty's cube:
//
//   z = ((t − least)/m)^(1/3) − 1 + 1/9k) / √(1/9k),   share = Φ(z)
//
// with the symbols of percentiles.hpp. The percentile of the mixture is found by bisection.
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "base/units/quantity.hpp"

namespace roofcast::sim {

struct PossibleTime {
  double weight = 1.0;
  base::Seconds mean;
  double variance = 0.0;  // s²
};

class TimeMixture {
 public:
  // Weights add up to 1.
  TimeMixture(std::vector<PossibleTime> times, base::Seconds least)
      : times_(std::move(times)), least_(least) {}

  // Share of the requests that take at most t.
  double below(base::Seconds t) const {
    double sum = 0.0;
    for (const PossibleTime& time : times_) {
      sum += time.weight * below(time, t);
    }
    return sum;
  }

  double variance() const {  // s²
    double mean = 0.0;
    double square = 0.0;
    for (const PossibleTime& time : times_) {
      mean += time.weight * time.mean.si();
      square += time.weight * (time.mean.si() * time.mean.si() + time.variance);
    }
    return std::fmax(0.0, square - mean * mean);
  }

  // The time that this share of the requests does not exceed. 0 < share < 1.
  base::Seconds percentile(double share) const {
    if (times_.size() == 1 && !(times_.front().variance > 0.0)) {
      return times_.front().mean;
    }
    base::Seconds low = least_;
    base::Seconds high = least_;
    for (const PossibleTime& time : times_) {
      high = base::max(high, time.mean);
    }
    for (int i = 0; i < kDoublings && below(high) < share; ++i) {
      high += base::max(high - least_, high);
    }
    for (int i = 0; i < kBisections; ++i) {
      const base::Seconds middle = 0.5 * (low + high);
      (below(middle) < share ? low : high) = middle;
    }
    return low;
  }

 private:
  static constexpr int kDoublings = 60;
  static constexpr int kBisections = 50;

  double below(const PossibleTime& time, base::Seconds t) const {
    const double beyond = (time.mean - least_).si();
    if (!(time.variance > 0.0) || !(beyond > 0.0)) {
      return t >= time.mean ? 1.0 : 0.0;
    }
    const double ninth = time.variance / (9.0 * beyond * beyond);
    const double root = std::cbrt(std::fmax(0.0, (t - least_).si()) / beyond);
    return 0.5 * std::erfc(-(root - 1.0 + ninth) / std::sqrt(2.0 * ninth));
  }

  std::vector<PossibleTime> times_;
  base::Seconds least_;
};

}  // namespace roofcast::sim
