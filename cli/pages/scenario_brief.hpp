// SPDX-License-Identifier: Apache-2.0
//
// What a brief of one scenario rests on: its sensitivity, and where something else begins to limit it.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "cli/pages/brief.hpp"
#include "cli/text/sensitivity_text.hpp"

namespace roofcast::cli {

// Moved so far, something else limits the first metric.
struct LimitChange {
  std::string knob;
  std::string value;  // there
  double factor;      // of what it is now
  std::string limit;  // from there on
};

struct ScenarioFindings {
  SensitivityAnswer sensitivity;  // the brief is of its first metric
  std::vector<LimitChange>
      changes;  // of the most effective rate upwards, and of the load both ways
};

// Of a scenario that fits; `metric` null: the first of the usual ones.
ScenarioFindings findings_of(const sim::OverriddenScenario& scenario,
                             const sim::ServingEstimate& estimate, const sim::Metric* metric);

Brief brief_of(const ScenarioFindings& findings, const sim::OverriddenScenario& scenario);

// The rows of write_sensitivity_csv, then one for each change of the limit.
void write_findings_csv(const ScenarioFindings& findings, std::ostream& out);

}  // namespace roofcast::cli
