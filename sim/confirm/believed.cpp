// SPDX-License-Identifier: Apache-2.0
#include "sim/confirm/believed.hpp"

#include <cmath>

namespace roofcast::sim {

bool holds(const Interval90& interval, double value) {
  return !(value < interval.low) && !(value > interval.high);
}

Interval90 moved(const Interval90& interval, double estimated, double replayed) {
  const double by = replayed / estimated;
  return {by * interval.low, by * interval.high};
}

Interval90 believed_interval(const Metric& metric, const ServingEstimate& estimate,
                             const Replayed& replayed, bool disagrees) {
  const Interval90 interval = interval90(metric, estimate);
  if (!replayed.done() || !replayed.is_steady() || !is_simulated(metric)) {
    return interval;
  }
  const double value = metric.value(replayed.estimate);
  return std::isfinite(value) && (disagrees || !holds(interval, value))
             ? moved(interval, metric.value(estimate), value)
             : interval;
}

}  // namespace roofcast::sim
