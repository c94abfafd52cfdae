// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/latency_mixture.hpp"

#include <algorithm>
#include <cmath>

namespace roofcast::sim {

using base::Seconds;
using base::SquareSeconds;

void LatencyMixture::add(double weight, Seconds mean, SquareSeconds variance, Seconds least) {
  if (weight > 0.0) {
    parts_.push_back({weight, mean, max(SquareSeconds{}, variance), min(least, mean)});
    weight_ += weight;
  }
}

void LatencyMixture::shift(Seconds mean, SquareSeconds variance, Seconds least) {
  for (Part& part : parts_) {
    part.mean += mean;
    part.variance += variance;
    part.least += least;
  }
}

SquareSeconds LatencyMixture::variance() const {
  SquareSeconds squares;
  for (const Part& part : parts_) {
    squares += part.weight * (part.mean * part.mean + part.variance);
  }
  return max(SquareSeconds{}, squares / weight_ - mean() * mean());
}

Seconds LatencyMixture::mean() const {
  Seconds sum;
  for (const Part& part : parts_) {
    sum += part.weight * part.mean;
  }
  return sum / weight_;
}

double LatencyMixture::share_within(Seconds time) const {
  double sum = 0.0;
  for (const Part& part : parts_) {
    const Seconds beyond = part.mean - part.least;
    const double ninth = beyond > Seconds{} ? part.variance / (9.0 * beyond * beyond) : 0.0;
    if (ninth < 1e-12) {
      sum += time >= part.mean ? part.weight : 0.0;
    } else if (time > part.least) {
      const double normal =
          (std::cbrt((time - part.least) / beyond) - (1.0 - ninth)) / std::sqrt(ninth);
      sum += 0.5 * part.weight * std::erfc(-normal / std::sqrt(2.0));
    }
  }
  return sum / weight_;
}

Seconds LatencyMixture::quantile(double share) const {
  if (std::all_of(parts_.begin(), parts_.end(),
                  [](const Part& p) { return p.variance == SquareSeconds{}; })) {
    const auto before = [](const Part& a, const Part& b) { return a.mean < b.mean; };
    std::vector<Part> sorted;
    if (!std::is_sorted(parts_.begin(), parts_.end(), before)) {
      sorted = parts_;
      std::sort(sorted.begin(), sorted.end(), before);
    }
    double sum = 0.0;
    for (const Part& part : sorted.empty() ? parts_ : sorted) {
      sum += part.weight;
      if (sum >= share * weight_) {
        return part.mean;
      }
    }
  }
  Seconds least;
  Seconds most;
  for (const Part& part : parts_) {
    most = max(most, part.mean + 8.0 * sqrt(part.variance));
  }
  constexpr int kBisections = 40;
  for (int i = 0; i < kBisections && most - least > 1e-5 * most; ++i) {
    const Seconds middle = 0.5 * (least + most);
    (share_within(middle) < share ? least : most) = middle;
  }
  return most;
}

}  // namespace roofcast::sim
