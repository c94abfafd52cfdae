// SPDX-License-Identifier: Apache-2.0
#include "cli/answers/sensitivities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/text/scenario_text.hpp"
#include "sim/decide/quantity_knobs.hpp"
#include "sim/estimate.hpp"
#include "sim/scenario/sections.hpp"

namespace roofcast::cli {
namespace {

void check(const char* option, double value, Limits limits) {
  if (!(value >= limits.least && value <= limits.most)) {
    throw base::InputError(fmt::format("error: {}: {} is not from {} to {}\n", option, value,
                                       limits.least, limits.most));
  }
}

std::vector<const sim::Metric*> metrics_of(const SensitivityQuestion& question,
                                           const sim::ServingEstimate& estimate) {
  std::vector<const sim::Metric*> all;
  base::Problems problems;
  for (const std::string& name : question.metrics) {
    const sim::Metric* metric = sim::find_metric(name);
    if (metric == nullptr) {
      problems.add_text(fmt::format("error: --metric: {}\n", sim::unknown_metric(name)));
    } else if (!std::isfinite(metric->value(estimate))) {
      problems.add_text(fmt::format("error: --metric: {} has no value in this scenario\n", name));
    } else {
      all.push_back(metric);
    }
  }
  problems.throw_if_any();
  return question.metrics.empty() ? usual_metrics(estimate) : all;
}

struct Varied {
  std::vector<sim::QuantityKnob> knobs;
  std::vector<sim::KnobRange> ranges;
};

// Paths with a range, whose variance is to be shared out, and those without, whose elasticities are asked for.
Varied varied(const SensitivityQuestion& question, const base::Node& document) {
  Varied v;
  base::Problems problems;
  for (const std::string& text : question.vary) {
    const std::string path = text.substr(0, text.find('='));
    if (path == text) {
      v.knobs.push_back(sim::knob_at({"--vary", text, {}}, document, problems));
      continue;
    }
    if (std::any_of(v.ranges.begin(), v.ranges.end(),
                    [&](const sim::KnobRange& other) { return other.path == path; })) {
      problems.add_text(fmt::format("error: --vary: {} has two ranges\n", path));
    }
    v.ranges.push_back(sim::parse_knob_range({"--vary", text, {}}, document, problems));
  }
  problems.throw_if_any();
  return v;
}

}  // namespace

SensitivityAnswer sensitivity(const SensitivityQuestion& question,
                              const sim::OverriddenScenario& scenario,
                              const sim::ServingEstimate& estimate) {
  check("--step", question.steps.step, kSteps);
  check("--gain", question.steps.gain, kGains);
  if (question.variance.rows != 0) {
    check("--rows", static_cast<double>(question.variance.rows), kSampleRows);
  }
  SensitivityAnswer a;
  a.title = title(scenario.scenario());
  a.estimate = estimate;
  sim::tell_causes(sim::view(scenario.scenario()), a.estimate);
  a.steps = question.steps;
  a.metrics = metrics_of(question, estimate);
  Varied v = varied(question, scenario.document());
  a.ranges = v.ranges;
  const auto quantities = sim::quantity_knobs(scenario.document());
  if (v.knobs.empty()) {
    add_elasticities(scenario, quantities, a);
  } else {
    a.elasticities = sim::elasticities(scenario, v.knobs, a.metrics, a.steps);
  }
  sim::Workspace workspace;
  for (const sim::Metric* metric : a.metrics) {
    a.waterfalls.push_back(metric->unit == "s" ? sim::waterfall(scenario, quantities, *metric)
                                               : sim::Waterfall{});
    a.errors.push_back(sim::error_shares(sim::view(scenario.scenario()), *metric, workspace));
  }
  if (!a.ranges.empty()) {
    a.variance = sim::variance_shares(scenario, a.ranges, a.metrics, question.variance);
  }
  return a;
}

}  // namespace roofcast::cli
