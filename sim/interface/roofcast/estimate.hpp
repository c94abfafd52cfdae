// SPDX-License-Identifier: Apache-2.0
//
// The forecast of one scenario in microseconds to milliseconds.
//
//   const roofcast::Estimate estimate = roofcast::estimate(scenario);
//   if (estimate.runs()) {
//     const roofcast::Number tpot = estimate["tpot_mean_s"];    // tpot.value, tpot.unit, tpot.interval90
//   }
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <roofcast/metrics.hpp>
#include <roofcast/scenario.hpp>

namespace roofcast {

struct Interval {
  double low;
  double high;
};

struct Number {
  double value;           // NaN where the scenario has no such number: a TTFT of a training step
  std::string_view unit;  // as of its metric
  // A server that runs is in it nine times in ten. Only the main metrics have one.
  std::optional<Interval> interval90;
};

class Estimate {
 public:
  bool runs() const { return reason_.empty(); }
  // Why the scenario cannot run, in one sentence: this is a result, not an error. Empty when it runs.
  const std::string& reason() const { return reason_; }

  // By the name of a metric. NaN when the scenario does not run. Throws InputError when there is no such metric.
  Number operator[](std::string_view metric) const;

 private:
  friend Estimate estimate(const Scenario& scenario);

  std::string reason_;
  std::vector<double> values_;       // as in metrics()
  std::vector<Interval> intervals_;  // the same; NaN where there is none
};

// Throws InputError when the scenario is bad input.
Estimate estimate(const Scenario& scenario);

}  // namespace roofcast
