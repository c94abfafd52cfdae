// SPDX-License-Identifier: Apache-2.0
//
// The points of a workload of a roadmap with every combination of some settings, and the best of each.
//
//   confirmed        the replay of the best point meets the workload's conditions
//   broken           it does not: the point no longer counts, and the next best one is replayed
//   estimated only   nothing was replayed; the note says why
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "sim/confirm/replayed_rows.hpp"
#include "sim/estimate.hpp"
#include "sim/roadmap/roadmap.hpp"

namespace roofcast::sim {

// The best of a workload's points with some settings.
struct Outcome {
  bool found = false;
  ServingEstimate estimate;  // of the first point where none meets the conditions
  std::string place;         // where on the workload's axes
  // Of its numeric axes, those on whose edge it lies: "concurrency 128, the most of its list".
  std::vector<std::string> edges;
  std::string reason;              // why there is none
  models::UncertainSum operators;  // of the mean iteration, which takes `iteration`
  base::Seconds iteration;
  models::Uncertainty uncertainty;
  std::string calibration;
  std::string priced_with;  // another chip, whose price is paid (sim/result/costs.hpp)
  Judgement judgement{Verdict::estimated, kNotAsked};
  // The metric in the replay; NaN where it has no value of its own.
  double replayed = std::numeric_limits<double>::quiet_NaN();
  std::string broken;  // the points before it that the replay breaks, and why
};

// Of an estimate that fits.
Outcome outcome_of(const ScenarioView& scenario, const ServingEstimate& estimate,
                   Workspace& workspace);

class Choices {
 public:
  // The settings that `axes` choose come before the workload's own axes, the last one fastest.
  Choices(const PortfolioWorkload& workload, const AxisValue& set, const std::vector<Axis>& axes);

  const std::vector<Outcome>& outcomes() const { return outcomes_; }
  // One of them with what its times are for (sim/result/causes.hpp).
  Outcome explained(std::size_t choice) const;
  // Replays the best points of choices. Whether any was broken.
  bool replay(const std::vector<std::size_t>& choices, const ReplayedRowsOptions& options);

 private:
  std::size_t block() const;
  void find_best(std::size_t choice);

  const Metric* metric_;
  SweepPoints points_;
  std::size_t own_axes_;           // the workload's first one
  std::vector<double> values_;     // by point; NaN where it misses a condition
  std::vector<std::size_t> best_;  // by choice
  std::vector<bool> replayed_;     // by choice: its best point was
  std::vector<Outcome> outcomes_;
  Workspace workspace_;
};

}  // namespace roofcast::sim
