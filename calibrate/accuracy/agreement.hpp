// SPDX-License-Identifier: Apache-2.0
//
// Estimates (sim/estimate.hpp) beside the simulation (sim/replay) of the same scenario.
//
//   error  estimate / simulation − 1, of a mean or a percentile over all requests after the warm-up
//   agree  |error| at most the tolerance of the metric (sim/confirm/verdict.hpp). What the estimate leaves out, or refuses after it
//          was drawn, does not agree
//   far    one is more than twice the other
//   doubt  the estimate says that it may be far (sim/confirm/doubt.hpp)
//
// The simulation itself is a sample: a p95 of 24,000 requests under bursts is some percent off.
#pragma once

#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/accuracy/better_hardware.hpp"
#include "calibrate/accuracy/random_scenarios.hpp"
#include "sim/confirm/verdict.hpp"

namespace roofcast::calibrate {

struct Agreement {
  std::size_t kind = 0;  // of kRandomKinds
  std::string yaml;
  std::string reason;  // why the estimate refuses it; empty if it fits
  std::string doubt;   // empty: none
  std::vector<std::string> impossible;
  std::vector<WithBetter> with_better;  // by kBetterHardware; empty if that was not asked
  using Values = std::array<double, sim::kChecked.size()>;
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  Values estimated = {kNone, kNone, kNone, kNone};
  Values simulated = {kNone, kNone, kNone, kNone};  // NaN if it was not simulated

  double error(std::size_t metric) const { return estimated[metric] / simulated[metric] - 1.0; }
  bool agrees(std::size_t metric) const {
    return std::abs(error(metric)) <= sim::kChecked[metric].tolerance;
  }
  bool is_far(std::size_t metric) const { return std::abs(std::log2(1.0 + error(metric))) > 1.0; }
};

struct AgreementRun {
  std::uint64_t seed = 1;
  std::size_t scenarios = 400;
  bool simulates =
      true;  // otherwise the estimates are only checked (calibrate/accuracy/impossible.hpp)
  bool betters = false;  // also estimates each with better hardware
  unsigned threads = 0;  // 0: all cores; any number gives the same rows
};

// One row for each scenario, by its number. `done` counts finished rows.
std::vector<Agreement> agreements(const AgreementRun& run,
                                  std::atomic<std::size_t>* done = nullptr);

struct AgreementSummary {
  std::size_t scenarios = 0;  // that were simulated
  double share = 0;           // of them that agree
  double median = 0;          // of the errors that are known; NaN without any
  double low = 0;             // their 10 % quantile
  double high = 0;            // 90 %
  std::size_t far = 0;
  std::size_t unmarked = 0;  // of these, without a doubt
  std::size_t doubted = 0;   // scenarios with one
};
// Of one metric, over the rows of one kind or, with none, of all.
AgreementSummary summarise(const std::vector<Agreement>& rows, std::size_t metric,
                           std::optional<std::size_t> kind = {});

}  // namespace roofcast::calibrate
