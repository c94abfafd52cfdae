// SPDX-License-Identifier: Apache-2.0
//
// Running a sweep: every point's estimate, on all cores, the same bytes whatever their number.
//
// Each section of the scenario (system, model, …) is read once for every combination of the axes
// that touch it; a point is then seven pointers and an estimate. Memory: about 0.4 kB a point.
#pragma once

#include <atomic>
#include <memory>

#include "sim/decide/sweep.hpp"
#include "sim/estimate.hpp"

namespace roofcast::sim {

// The readable side of a sweep: which scenario a point is.
class SweepPoints {
 public:
  explicit SweepPoints(Sweep sweep);  // throws InputError when any value of any axis is bad input
  ~SweepPoints();

  const Sweep& sweep() const { return sweep_; }
  std::size_t size() const { return size_; }
  std::size_t value_index(std::size_t point, std::size_t axis) const;
  const std::string& label(std::size_t point, std::size_t axis) const;
  ScenarioView scenario(std::size_t point) const;
  base::Node document(std::size_t point) const;  // as a scenario that is estimated alone

 private:
  struct Sections;
  Sweep sweep_;
  std::size_t size_ = 0;
  std::unique_ptr<Sections> sections_;
};

struct SweepResult {
  std::vector<ServingEstimate> estimates;  // by point
  std::vector<std::uint8_t> meets;         // every condition
  // 1 = on the front; 0 = does not meet the conditions; empty where the sweep has no goal.
  std::vector<std::uint32_t> pareto_rank;
  std::size_t feasible = 0;  // points that meet
};

// `threads` 0 = all cores. `done` counts finished points while it runs, for a progress display.
SweepResult run_sweep(const SweepPoints& points, unsigned threads,
                      std::atomic<std::size_t>* done = nullptr);

}  // namespace roofcast::sim
