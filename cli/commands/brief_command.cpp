// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <sstream>

#include "base/document/text_file.hpp"
#include "cli/pages/brief.hpp"
#include "cli/pages/scenario_brief.hpp"
#include "cli/program/commands.hpp"
#include "cli/program/progress.hpp"
#include "cli/program/usage.hpp"
#include "cli/tables/result_csv.hpp"
#include "cli/tables/text_table.hpp"
#include "cli/text/roadmap_text.hpp"
#include "sim/confirm/replayed_rows.hpp"
#include "sim/decide/overridden_scenario.hpp"
#include "sim/decide/sweep_run.hpp"
#include "sim/scenario/sections.hpp"

namespace roofcast::cli {
namespace {

struct Options {
  std::string document;
  std::string metric;
  std::string output;
  bool no_replay = false;
};

// Where the rows go that a page cites: beside it.
std::string csv_of(const Options& options) {
  return std::filesystem::path(options.output).replace_extension(".csv").string();
}

const sim::Metric* metric_of(const std::string& name) {
  const sim::Metric* metric = name.empty() ? nullptr : sim::find_metric(name);
  if (!name.empty() && (metric == nullptr || metric->better == sim::Better::none)) {
    throw base::InputError(fmt::format(
        "error: --metric: {}\n", metric == nullptr ? sim::unknown_metric(name)
                                                   : name + " is neither better when higher nor "
                                                            "when lower"));
  }
  return metric;
}

Brief brief_of_roadmap(const base::Node& document, const Options& options) {
  if (!options.metric.empty()) {
    throw base::InputError("error: --metric is of sweeps and scenarios; a roadmap names its own\n");
  }
  const sim::Roadmap roadmap = sim::read_roadmap(document);
  const sim::RoadmapResult result = sim::run_roadmap(roadmap);
  if (!options.output.empty()) {
    write_roadmap_csv(roadmap, result, csv_of(options));
  }
  return brief_of(roadmap, result);
}

Brief brief_of_sweep(const base::Node& document, const Options& options) {
  const sim::SweepPoints points(sim::read_sweep(document));
  const sim::ParetoGoal& goal = points.sweep().pareto;
  const sim::Metric* metric = metric_of(options.metric);
  if (metric == nullptr) {
    metric =
        sim::find_metric(goal.maximize.empty() ? goal.minimize.front() : goal.maximize.front());
  }
  sim::ResultTable result = sim::run_sweep(points, 0);
  sim::refuse_without_value(points, result);
  {
    sim::ReplayProgress rows;
    const Progress progress(rows.done, rows.total, "rows replayed", false);
    sim::replay_recommended(points, result, {0, !options.no_replay, metric, &rows});
  }
  if (!options.output.empty()) {
    std::vector<std::string> columns;
    for (const sim::ResultColumn& column : result.columns()) {
      columns.push_back(column.name());
    }
    base::CsvWriter csv(std::filesystem::path(csv_of(options)), columns);
    write_results(result, 0, csv);
  }
  return brief_of(points, result, *metric);
}

// What the simulation says of the metric of a scenario.
std::string replayed_sentence(const base::Node& document, const Options& options,
                              const sim::ServingEstimate& closed_form, const sim::Metric& metric) {
  sim::Replayed replayed;
  replayed.why_not = "--no-replay";
  if (!options.no_replay) {
    const sim::StreamedScenario s = sim::read_streamed_scenario(document);
    sim::ReplayPlan plan;
    plan.targets = {&metric};
    sim::ReplaySpace space;
    replayed = sim::replay(sim::view(s.scenario), s.stream, closed_form, plan, space);
  }
  const bool own = sim::is_simulated(metric);
  return !replayed.done() || !own
             ? fmt::format("This is estimated only: {}.",
                           own ? replayed.why_not : "a simulation says the same of it")
             : fmt::format("Replayed in the simulator ({} requests), {} is {}.", replayed.requests,
                           metric.label, display(metric.value(replayed.estimate), metric.unit));
}

Brief brief_of_scenario(const base::Node& document, const Options& options) {
  const sim::OverriddenScenario scenario(document, "--set");
  sim::Workspace workspace;
  const sim::ServingEstimate estimate = sim::estimate(sim::view(scenario.scenario()), workspace);
  if (!estimate.fits()) {
    throw base::InputError(
        fmt::format("error: {} does not run: {}\n", options.document, sim::reason(estimate)));
  }
  const sim::Metric* metric = metric_of(options.metric);
  if (metric != nullptr && !std::isfinite(metric->value(estimate))) {
    throw base::InputError(
        fmt::format("error: --metric: {} has no value in this scenario\n", options.metric));
  }
  const ScenarioFindings findings = findings_of(scenario, estimate, metric);
  if (!options.output.empty()) {
    std::ostringstream rows;
    write_findings_csv(findings, rows);
    base::write_text(csv_of(options), rows.str());
  }
  Brief brief = brief_of(findings, scenario);
  brief.answer.push_back(
      replayed_sentence(document, options, estimate, *findings.sensitivity.metrics.front()));
  return brief;
}

int run_brief(const Options& options) {
  const base::Node document = base::load_document(options.document);
  const Brief brief = document.find("workloads") != nullptr ? brief_of_roadmap(document, options)
                      : document.find("axes") != nullptr    ? brief_of_sweep(document, options)
                                                            : brief_of_scenario(document, options);
  if (options.output.empty()) {
    fmt::print("{}", markdown(brief));
    return kDone;
  }
  const std::filesystem::path file(options.output);
  base::write_text(file, file.extension() == ".html" ? html(brief) : markdown(brief));
  return kDone;
}

}  // namespace

void add_brief(Command& app, Run& chosen) {
  auto* command = app.add_subcommand(
      "brief",
      "Writes one page about a roadmap, a sweep or a scenario, for decisions\n"
      "The page has the question, the answer, the evidence, the assumptions, the uncertainty, "
      "and what would change the answer. For a roadmap it names the best option or feature, "
      "for a sweep the best group, for a scenario its limit and what helps. The best points of a "
      "sweep, and a scenario, are replayed in the simulator; those of a roadmap are not. Numbers "
      "in "
      "[brackets] are rows of the CSV that is written beside the page.");
  auto options = std::make_shared<Options>();
  command->add_option("document", options->document, "the YAML of a roadmap, a sweep or a scenario")
      ->type_name(kFile)
      ->required();
  command
      ->add_option(
          "--metric", options->metric,
          "the metric that decides; default for a sweep: its first objective; default for a "
          "scenario: TPOT or the training step")
      ->type_name(kMetric);
  command
      ->add_option(
          "-o,--output", options->output,
          "the file of the page: HTML if it ends in .html, else Markdown; default: print it")
      ->type_name(kFile)
      ->group("Output");
  command->add_flag("--no-replay", options->no_replay,
                    "replay nothing: what the page recommends is estimated only");
  command->footer(
      examples({"roofcast show example roadmap_features > roadmap.yaml",
                "roofcast brief roadmap.yaml -o roadmap.html",
                "roofcast show example token_prices > prices.yaml", "roofcast brief prices.yaml",
                "roofcast show example llama-70b > mine.yaml",
                "roofcast brief mine.yaml --metric ttft_mean_s -o mine.md"}));
  command->callback([&chosen, options] { chosen = [options] { return run_brief(*options); }; });
}

}  // namespace roofcast::cli
