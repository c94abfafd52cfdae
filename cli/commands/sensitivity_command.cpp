// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/pages/sensitivity_report.hpp"
#include "cli/program/commands.hpp"
#include "cli/program/usage.hpp"
#include "cli/text/scenario_text.hpp"
#include "cli/text/sensitivity_text.hpp"
#include "sim/scenario/sections.hpp"

namespace roofcast::cli {
namespace {

struct Options {
  std::string scenario;
  std::vector<std::string> metrics;
  std::vector<std::string> vary;
  std::vector<std::string> set;
  sim::StepAndGain steps;
  sim::VarianceOptions variance;
  std::string report;
  std::string format = "text";
  bool strict = false;
};

std::vector<const sim::Metric*> metrics_of(const Options& options,
                                           const sim::ServingEstimate& estimate) {
  std::vector<const sim::Metric*> all;
  base::Problems problems;
  for (const std::string& name : options.metrics) {
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
  return options.metrics.empty() ? usual_metrics(estimate) : all;
}

struct Varied {
  std::vector<sim::QuantityKnob> knobs;
  std::vector<sim::KnobRange> ranges;
};

// Paths with a range, whose variance is to be shared out, and those without, whose elasticities are asked for.
Varied varied(const Options& options, const base::Node& document) {
  Varied v;
  base::Problems problems;
  for (const std::string& text : options.vary) {
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

SensitivityAnswer answer(const Options& options, const sim::OverriddenScenario& scenario,
                         const sim::ServingEstimate& estimate) {
  SensitivityAnswer a;
  a.title = title(scenario.scenario());
  a.estimate = estimate;
  a.steps = options.steps;
  a.metrics = metrics_of(options, estimate);
  Varied v = varied(options, scenario.document());
  a.ranges = v.ranges;
  const auto quantities = sim::quantity_knobs(scenario.document());
  a.all_rates = v.knobs.empty();
  a.elasticities =
      sim::elasticities(scenario, a.all_rates ? quantities : v.knobs, a.metrics, options.steps);
  sim::Workspace workspace;
  for (const sim::Metric* metric : a.metrics) {
    a.waterfalls.push_back(metric->unit == "s" ? sim::waterfall(scenario, quantities, *metric)
                                               : sim::Waterfall{});
    a.errors.push_back(sim::error_shares(sim::view(scenario.scenario()), *metric, workspace));
  }
  if (!a.ranges.empty()) {
    a.variance = sim::variance_shares(scenario, a.ranges, a.metrics, options.variance);
  }
  return a;
}

int run_sensitivity(const Options& options) {
  const base::Node document = scenario_document(options.scenario, options.set);
  const sim::OverriddenScenario scenario(document, "--set");
  sim::Workspace workspace;
  const sim::ServingEstimate estimate = sim::estimate(sim::view(scenario.scenario()), workspace);
  if (!estimate.fits()) {
    const std::string why = sim::reason(estimate);
    if (options.format == "json") {
      fmt::print("{}\n", nlohmann::ordered_json{{"fits", false}, {"reason", why}}.dump(2));
    } else {
      fmt::print(options.format == "csv" ? stderr : stdout, "{}\n\nit does not run: {}\n",
                 title(scenario.scenario()), why);
    }
    if (!options.report.empty()) {
      write_report_of_misfit(title(scenario.scenario()), why, base::to_yaml(document),
                             options.report);
    }
    return options.strict ? kInfeasible : kDone;
  }
  const SensitivityAnswer a = answer(options, scenario, estimate);
  if (options.format == "json") {
    fmt::print("{}\n", sensitivity_json(a).dump(2));
  } else if (options.format == "csv") {
    write_sensitivity_csv(a, std::cout);
  } else {
    fmt::print("{}", sensitivity_text(a));
  }
  if (!options.report.empty()) {
    write_report(a, base::to_yaml(document), options.report);
  }
  return kDone;
}

}  // namespace

void add_sensitivity(Command& app, Run& chosen) {
  auto* command = app.add_subcommand(
      "sensitivity",
      "Shows what one more percent of each resource buys, and what limits a result\n"
      "Prints up to four tables for each metric. Elasticities: to every rate, latency and size "
      "of the system and its software, or to the knobs of --vary. If free: the metric if a "
      "resource cost no time, alone and together with the resources above it. Errors: the "
      "parts of the 90 % interval by kind of error. Variance (Sobol), for knobs with a range: "
      "the share of each knob. A range is log-uniform if its low end is positive; all values "
      "of a list are equally likely.");
  auto options = std::make_shared<Options>();
  command->add_option("scenario", options->scenario, "the YAML file of the scenario")
      ->type_name(kFile)
      ->required();
  command
      ->add_option("--metric", options->metrics,
                   "the metrics; default: TPOT, TTFT and throughput, or the training step")
      ->type_name(kMetric)
      ->take_all();
  command
      ->add_option(
          "--vary", options->vary,
          "a knob: without a range for its elasticity, with one for its share of the variance")
      ->type_name(kKnobRange)
      ->take_all();
  command
      ->add_option("--set", options->set,
                   "change a knob: its dotted path, =, a value or a factor (x1.5)")
      ->type_name(kKnobValue)
      ->take_all();
  command
      ->add_option("--step", options->steps.step,
                   "the factor by which a knob goes up and down to measure its elasticity")
      ->type_name(kNumber)
      ->within(1.0001, 100.0)
      ->capture_default_str();
  command
      ->add_option("--gain", options->steps.gain,
                   "the factor of the last column: how much better each knob becomes there")
      ->type_name(kNumber)
      ->within(1.0001, 1000.0)
      ->capture_default_str();
  command
      ->add_option(
          "--rows", options->variance.rows,
          "rows of the sample over the ranges; default: doubled until the intervals are 0.05")
      ->type_name(kNumber)
      ->within(std::size_t{32}, std::size_t{1'000'000});
  command->add_option("--seed", options->variance.seed, "the seed of the sample")
      ->type_name(kNumber)
      ->capture_default_str();
  command
      ->add_option("--report", options->report,
                   "write an HTML report with every table as a chart, by metric")
      ->type_name(kFile)
      ->group("Output");
  command->add_option("--format", options->format, "the format of the output")
      ->one_of({"text", "json", "csv"})
      ->capture_default_str()
      ->group("Output");
  command->add_flag("--strict", options->strict, "exit with 3 if the scenario does not fit");
  command->footer(examples(
      {"roofcast show example llama-70b > mine.yaml",
       "roofcast sensitivity mine.yaml --report sensitivity.html",
       "roofcast sensitivity mine.yaml --metric tpot_mean_s --vary traffic.concurrency --vary "
       "system.chip.hbm.bandwidth --gain 1.35",
       "roofcast sensitivity mine.yaml --metric tpot_mean_s --vary "
       "system.chip.hbm.bandwidth=x0.8..x2 --vary traffic.input_tokens=500..8000 --format json"}));
  command->callback(
      [&chosen, options] { chosen = [options] { return run_sensitivity(*options); }; });
}

}  // namespace roofcast::cli
