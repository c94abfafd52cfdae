// SPDX-License-Identifier: Apache-2.0
//
// The work behind `sensitivity`: the answer to a scenario that is in memory.
#pragma once

#include <string>
#include <vector>

#include "cli/text/sensitivity_text.hpp"
#include "sim/decide/overridden_scenario.hpp"

namespace roofcast::cli {

// Of a number of the question.
struct Limits {
  double least;
  double most;
};
inline constexpr Limits kSteps{1.0001, 100.0};
inline constexpr Limits kGains{1.0001, 1000.0};
inline constexpr Limits kSampleRows{32.0, 1e6};

// The texts are those of the options of `roofcast sensitivity`.
struct SensitivityQuestion {
  std::vector<std::string> metrics;
  std::vector<std::string> vary;
  sim::StepAndGain steps;
  sim::VarianceOptions variance;
};

// `estimate` is that of the scenario, which fits. Throws InputError.
SensitivityAnswer sensitivity(const SensitivityQuestion& question,
                              const sim::OverriddenScenario& scenario,
                              const sim::ServingEstimate& estimate);

}  // namespace roofcast::cli
