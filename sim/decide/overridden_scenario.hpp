// SPDX-License-Identifier: Apache-2.0
//
// A scenario that is estimated again and again with some of its knobs overridden (sim/scenario/knob.hpp).
//
// The parts that it names are loaded once and stay what they are: a chip whose bandwidth is overridden keeps the
// calibration it had, corrections included, so that a small change makes a small difference. Only a setting that names
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

struct OverriddenEstimate {
  ServingEstimate estimate;
  std::string refusal;  // the message, where a reader did not take the settings
};

class OverriddenScenario {
 public:
  // `origin` is what messages call the settings. Throws InputError.
  OverriddenScenario(const base::Node& document, std::string origin);

  const base::Node& document() const { return loaded_; }  // references loaded
  const Scenario& scenario() const { return scenario_; }

  OverriddenEstimate estimate(const Settings& settings) const;
  // With what its times are for (sim/result/causes.hpp).
  OverriddenEstimate explained(const Settings& settings) const;
  // On all cores; in the order of the settings, whatever their number.
  std::vector<OverriddenEstimate> estimates(const std::vector<Settings>& all) const;

 private:
  base::Node overridden(const base::Node& document, Settings settings) const;
  Scenario read(const Settings& settings) const;
  OverriddenEstimate estimate(const Settings& settings, bool causes) const;

  std::string origin_;
  base::Node written_;
  base::Node loaded_;
  base::Node without_corrections_;  // which are large
  Scenario scenario_;
};

}  // namespace roofcast::sim
