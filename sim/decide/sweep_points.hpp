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
  ~SweepPoints();

  const Sweep& sweep() const { return sweep_; }
  std::size_t size() const { return size_; }
  std::size_t value_index(std::size_t point, std::size_t axis) const;
  const std::string& label(std::size_t point, std::size_t axis) const;
  ScenarioView scenario(std::size_t point) const;
  workloads::RequestStream stream(std::size_t point) const;  // to be simulated
  base::Node document(std::size_t point) const;  // as a scenario that is estimated alone

 private:
  struct Sections;
  Sweep sweep_;
  std::size_t size_ = 0;
  std::vector<std::size_t> stride_;  // of each axis in a point's index
  std::unique_ptr<Sections> sections_;
};

}  // namespace roofcast::sim
