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
inline void join_alike(TimeSamples& samples) {
  if (samples.empty()) {
    return;
  }
  auto into = samples.begin();
  for (auto sample = into + 1; sample != samples.end(); ++sample) {
    if (max(sample->value - into->value, into->value - sample->value) <= kAlike * into->value) {
      into->weight += sample->weight;
      into->value += sample->weight / into->weight * (sample->value - into->value);
    } else {
      *++into = *sample;
    }
  }
  samples.erase(into + 1, samples.end());
}

}  // namespace detail

// Puts them in the order of their values, alike ones as one.
inline void merge(TimeSamples& samples) {
  detail::join_alike(samples);
  std::sort(samples.begin(), samples.end(),
            [](const TimeSample& a, const TimeSample& b) { return a.value < b.value; });
  detail::join_alike(samples);
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
