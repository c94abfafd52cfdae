// SPDX-License-Identifier: Apache-2.0
#include "sim/class_attainment.hpp"

namespace roofcast::sim {

bool has_classes(const ScenarioView& s) {
  return s.training == nullptr && s.traffic->classes.size() > 1 &&
         any_objective(s.traffic->classes);
}

std::string_view class_gap(const ScenarioView& s) {
  return !has_classes(s) ? "" : s.traffic->agents ? "turns of agents are not told apart" : "";
}

std::vector<double> class_attainment(const ScenarioView& scenario, Workspace& workspace) {
  std::vector<double> shares;
  if (!has_classes(scenario) || !class_gap(scenario).empty()) {
    return shares;
  }
  workloads::Traffic traffic = *scenario.traffic;
  ScenarioView s = scenario;
  s.traffic = &traffic;
  const workloads::Objectives never{.ttft = -1.0 * base::second};
  for (const workloads::RequestClass& each : scenario.traffic->classes) {
    traffic.classes = scenario.traffic->classes;
    for (workloads::RequestClass& other : traffic.classes) {
      other.objectives = other.priority == each.priority ? other.objectives : never;
    }
    // A class without objectives is good whatever happens.
    shares.push_back(each.objectives.any() ? estimate(s, workspace).steady.attainment / each.share
                                           : 1.0);
  }
  return shares;
}

}  // namespace roofcast::sim
