// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/answers/sensitivities.hpp"
#include "cli/pages/sensitivity_report.hpp"
#include "cli/program/commands.hpp"
#include "cli/program/usage.hpp"
#include "cli/provenance/made_by.hpp"
#include "cli/tables/say.hpp"
#include "cli/text/json_answer.hpp"
#include "cli/text/scenario_text.hpp"
#include "cli/text/sensitivity_text.hpp"
#include "sim/scenario/sections.hpp"

namespace roofcast::cli {
namespace {

struct SensitivityOptions {
  SensitivityQuestion question;
  std::string scenario;
  std::vector<std::string> set;
  std::string report;
  std::string format = "text";
  bool strict = false;
};

int run_sensitivity(const SensitivityOptions& options) {
  const base::Node document = scenario_document(options.scenario, options.set);
  note_question("scenario", document);
  const sim::OverriddenScenario scenario(document, "--set");
  sim::Workspace workspace;
  const sim::ServingEstimate estimate = sim::estimate(sim::view(scenario.scenario()), workspace);
  if (!estimate.fits()) {
    const std::string why = sim::reason(estimate);
    if (options.format == "json") {
      print_json({{"scenario", title(scenario.scenario())}, {"fits", false}, {"reason", why}});
    } else {
      const auto print = options.format == "csv" ? tell_text : say_text;
      print(fmt::format("{}\n\nit does not run: {}\n", title(scenario.scenario()), why));
    }
    if (!options.report.empty()) {
      write_report_of_misfit(title(scenario.scenario()), why, base::to_yaml(document),
                             options.report);
    }
    return options.strict ? kInfeasible : kDone;
  }
  note_seed("sample", static_cast<std::int64_t>(options.question.variance.seed));
  const SensitivityAnswer a = sensitivity(options.question, scenario, estimate);
  if (options.format == "json") {
    nlohmann::ordered_json json = sensitivity_json(a);
    add_parents(sim::view(scenario.scenario()), json);
    print_json(json);
  } else if (options.format == "csv") {
    write_sensitivity_csv(a, std::cout);
  } else {
    say("{}{}", sensitivity_text(a), parents_text(sim::view(scenario.scenario())));
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
  auto options = std::make_shared<SensitivityOptions>();
  command->add_option("scenario", options->scenario, "the YAML file of the scenario")
      ->type_name(kFile)
      ->required();
  command
      ->add_option("--metric", options->question.metrics,
                   "the metrics; default: TPOT, TTFT and throughput, or the training step")
      ->type_name(kMetric)
      ->take_all();
  command
      ->add_option(
          "--vary", options->question.vary,
          "a knob: without a range for its elasticity, with one for its share of the variance")
      ->type_name(kKnobRange)
      ->take_all();
  command
      ->add_option("--set", options->set,
                   "change a knob: its dotted path, =, a value or a factor (x1.5)")
      ->type_name(kKnobValue)
      ->take_all();
  command
      ->add_option("--step", options->question.steps.step,
                   "the factor by which a knob goes up and down to measure its elasticity")
      ->type_name(kNumber)
      ->within(kSteps.least, kSteps.most)
      ->capture_default_str();
  command
      ->add_option("--gain", options->question.steps.gain,
                   "the factor of the last column: how much better each knob becomes there")
      ->type_name(kNumber)
      ->within(kGains.least, kGains.most)
      ->capture_default_str();
  command
      ->add_option(
          "--rows", options->question.variance.rows,
          "rows of the sample over the ranges; default: doubled until the intervals are 0.05")
      ->type_name(kNumber)
      ->within(static_cast<std::size_t>(kSampleRows.least),
               static_cast<std::size_t>(kSampleRows.most));
  command->add_option("--seed", options->question.variance.seed, "the seed of the sample")
      ->type_name(kNumber)
      ->capture_default_str();
  command
      ->add_option("--report", options->report,
                   "write an HTML report with every table as a chart, by metric")
      ->written();
  command->add_format(options->format, {"text", "json", "csv"});
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
