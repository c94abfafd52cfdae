// SPDX-License-Identifier: Apache-2.0
//
// A scenario that is estimated again and again with some of its knobs turned (sim/scenario/knob.hpp).
//
// The parts that it names are loaded once and stay what they are: a chip whose bandwidth is turned keeps the
// calibration it had, corrections included, so that a small turn makes a small difference. Only a setting that names
// another part (system=…, system.chip=…, serving.stack=…) starts from the scenario as it was written.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/estimate.hpp"
#include "sim/scenario/scenario.hpp"

namespace roofcast::sim {

// "path=value" each; shorter paths are set first.
using Settings = std::vector<std::string>;

struct Turned {
  ServingEstimate estimate;
  std::string refusal;  // the message, where a reader did not take the settings
};

class TurnedScenario {
 public:
  explicit TurnedScenario(const base::Node& document);  // throws InputError

  const base::Node& document() const { return loaded_; }  // references loaded
  const Scenario& scenario() const { return scenario_; }

  Turned estimate(const Settings& settings) const;
  // On all cores; in the order of the settings, whatever their number.
  std::vector<Turned> estimates(const std::vector<Settings>& all) const;

 private:
  Scenario read(const Settings& settings) const;

  base::Node written_;
  base::Node loaded_;
  base::Node without_corrections_;  // which are large
  Scenario scenario_;
};

}  // namespace roofcast::sim
