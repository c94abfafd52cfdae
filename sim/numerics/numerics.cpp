// SPDX-License-Identifier: Apache-2.0
#include "sim/numerics/numerics.hpp"

#include "sim/numerics/rules.hpp"

namespace roofcast::sim {
namespace {

std::vector<NumericRisk> verdicts(const ScenarioView& scenario, const ServingEstimate* now) {
  if (scenario.model->recommender) {
    return {};
  }
  NumericRules rules(scenario, now);
  scenario.training != nullptr ? rules.training() : rules.serving();
  return std::move(rules).risks();
}

}  // namespace

std::vector<NumericRisk> numerics(const ScenarioView& scenario) {
  return verdicts(scenario, nullptr);
}

std::vector<NumericRisk> numerics(const ScenarioView& scenario, const ServingEstimate& now) {
  return verdicts(scenario, &now);
}

}  // namespace roofcast::sim
