// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "base/units/quantity.hpp"

namespace roofcast::base {

// A time, and how many had it.
struct TimeSample {
  Seconds value;
  double weight = 0;
};

using TimeSamples = std::vector<TimeSample>;

namespace detail {

constexpr double kAlike = 0.001;  // difference of two times

// Samples that follow each other and are alike become one.
inline void add_alike(TimeSamples& samples, const TimeSample& sample) {
  const auto alike = [&](const TimeSample& last) {
    return max(sample.value - last.value, last.value - sample.value) <= kAlike * last.value;
  };
  if (samples.empty() || !alike(samples.back())) {
    samples.push_back(sample);
    return;
  }
  TimeSample& into = samples.back();
  into.weight += sample.weight;
  into.value += sample.weight / into.weight * (sample.value - into.value);
}

}  // namespace detail

// In the order of their values, alike ones as one.
inline TimeSamples merged(const TimeSamples& samples) {
  TimeSamples alike;
  alike.reserve(samples.size());
  for (const TimeSample& sample : samples) {
    detail::add_alike(alike, sample);
  }
  std::sort(alike.begin(), alike.end(),
            [](const TimeSample& a, const TimeSample& b) { return a.value < b.value; });
  TimeSamples sorted;
  sorted.reserve(alike.size());
  for (const TimeSample& sample : alike) {
    detail::add_alike(sorted, sample);
  }
  return sorted;
}

inline Seconds mean_of(const TimeSamples& samples) {
  Seconds sum;
  double weight = 0.0;
  for (const TimeSample& s : samples) {
    sum += s.value * s.weight;
    weight += s.weight;
  }
  return sum / weight;
}

}  // namespace roofcast::base
