// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "calibrate/logs/training_log.hpp"
#include "cli/compare/compare_measured.hpp"
#include "cli/compare/measured_metrics.hpp"
#include "cli/text/scenario_text.hpp"
#include "sim/estimate.hpp"
#include "sim/scenario/knob.hpp"
#include "sim/scenario/sections.hpp"

namespace roofcast::cli {
namespace {

// The scenario with the sizes that the log says and it does not.
base::Node sized(const CompareMeasuredOptions& options, const calibrate::TrainingLog& log,
                 std::vector<std::string>& contradictions, MeasuredComparison& comparison) {
  base::Node document = options.scenarios.of_profile(log.name);
  base::Problems problems;
  std::vector<std::string> set;
  for (const calibrate::TrainingLog::Setting& setting : log.settings) {
    const base::Node* node = document.find_path(setting.knob);
    if (node == nullptr) {
      sim::set_knob(document, {"--set", setting.knob + "=" + setting.value, {}}, problems);
      set.push_back(fmt::format("{} {}", setting.knob, setting.value));
    } else if (const auto said = calibrate::number_of(node->text);
               said && *said != calibrate::number_of(setting.value)) {
      contradictions.push_back(fmt::format("{}: {} in the log, {} in the scenario", setting.knob,
                                           setting.value, node->text));
    }
  }
  problems.throw_if_any();
  if (!set.empty()) {
    comparison.said.push_back(fmt::format("set from the log: {}", fmt::join(set, ", ")));
  }
  return document;
}

}  // namespace

MeasuredComparison compare_training(const CompareMeasuredOptions& options,
                                    const calibrate::TrainingLog& log) {
  MeasuredComparison comparison;
  comparison.log = log.name;
  comparison.said.push_back(fmt::format("medians of {} {}{}", log.lines,
                                        log.lines == 1 ? "line" : "lines",
                                        log.lines > 1 ? ", the first one left out" : ""));
  std::vector<std::string> contradictions;
  const sim::Scenario scenario =
      sim::read_scenario(sized(options, log, contradictions, comparison));
  if (!scenario.training.trains()) {
    throw base::InputError(fmt::format(
        "{}: error: training: missing; a log of a training is of an optimizer step\n", log.name));
  }
  comparison.scenario = title(scenario);
  refuse_contradictions(options, contradictions, comparison);
  sim::Workspace workspace;
  const sim::ServingEstimate e = sim::estimate(sim::view(scenario), workspace);
  comparison.runs = e.fits();
  if (!e.fits()) {
    comparison.notes.push_back(fmt::format("does not run: {}", sim::reason(e)));
  }
  lay_beside(log.metrics, e, comparison);
  return comparison;
}

}  // namespace roofcast::cli
