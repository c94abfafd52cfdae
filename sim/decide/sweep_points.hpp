// SPDX-License-Identifier: Apache-2.0
//
// The points of a sweep: which scenario each is.
//
// Each section of the scenario (system, model, …) is read once for every combination of the axes that touch it; a
// point is then one pointer a section.
#pragma once

#include <memory>
#include <string>

#include "sim/decide/sweep.hpp"
#include "sim/scenario/scenario.hpp"
#include "workloads/traffic/request_stream.hpp"

namespace roofcast::sim {

class SweepPoints {
 public:
  explicit SweepPoints(Sweep sweep);  // throws InputError when any value of any axis is bad input

  // The points from `first` on, `count` of them: what is said of points below counts from there.
  SweepPoints part(std::size_t first, std::size_t count) const;
  // Whether estimates follow few requests, or none, from now on.
  void scan(bool scans) { scans_ = scans; }
  bool scans() const { return scans_; }

  const Sweep& sweep() const;
  std::size_t first() const { return first_; }  // of the whole sweep
  std::size_t size() const { return size_; }
  std::size_t value_index(std::size_t point, std::size_t axis) const;
  const std::string& label(std::size_t point, std::size_t axis) const;
  ScenarioView scenario(std::size_t point) const;
  std::size_t bytes() const;  // that the axes and what was read of them take, about
  bool has_parent_figures()
      const;  // of any point of the whole sweep (sim/result/parent_figures.hpp)
  workloads::RequestStream stream(std::size_t point) const;  // to be simulated
  base::Node document(std::size_t point) const;  // as a scenario that is estimated alone

 private:
  struct Whole;
  std::shared_ptr<const Whole> whole_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
  bool scans_ = false;
};

// The groups of a sweep's front: combinations of the values of its `by`.
class PointGroups {
 public:
  explicit PointGroups(const SweepPoints& points);
  std::size_t count() const { return count_; }
  std::size_t of(std::size_t point) const;

 private:
  const SweepPoints& points_;
  std::vector<std::size_t> axes_;
  std::size_t count_ = 1;
};

// The problem with the values at which it occurs behind its message: "system: hgx_h100".
base::InputError at_values(base::Problem problem, const std::string& values);

}  // namespace roofcast::sim
