// SPDX-License-Identifier: Apache-2.0
#include "cli/answers/briefs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "base/document/text_file.hpp"
#include "cli/pages/cited_rows.hpp"
#include "cli/pages/front_chart.hpp"
#include "cli/pages/scenario_brief.hpp"
#include "cli/program/progress.hpp"
#include "cli/tables/result_csv.hpp"
#include "cli/tables/text_table.hpp"
#include "cli/text/roadmap_text.hpp"
#include "sim/confirm/replayed_rows.hpp"
#include "sim/decide/overridden_scenario.hpp"
#include "sim/decide/sweep_run.hpp"
#include "sim/scenario/sections.hpp"

namespace roofcast::cli {
namespace {

// Where the rows go that a page cites: beside it.
std::string csv_of(const BriefQuestion& question) {
  return std::filesystem::path(question.output).replace_extension(".csv").string();
}

// The rows that an HTML page names, as the CSV has them.
void add_cited(const BriefQuestion& question, Brief& page,
               const std::vector<std::string>& columns = {}) {
  if (question.output.ends_with(".html")) {
    page.cited = cited_rows(csv_of(question), cited_by(page), columns);
  }
}

// What a page is of a sweep: its best points in the trade-off of its metric.
void add_chart(const sim::Sweep& sweep, const sim::ResultTable& result, const sim::Metric& metric,
               Brief& page) {
  const sim::Metric* against = traded_against(metric, sweep);
  if (against == nullptr || page.evidence.empty()) {
    return;
  }
  std::vector<Recommended> best;
  const auto& rows = page.evidence.front().table.rows();
  for (std::size_t i = 1; i < rows.size(); ++i) {
    best.emplace_back(citations(rows[i].back()).front().row, rows[i].front());
  }
  std::string svg = front_svg(result, *against, metric, best);
  if (!svg.empty()) {
    page.charts.push_back({fmt::format("{} against {}: the front, and the best of each {}",
                                       metric.label, against->label, rows.front().front()),
                           std::move(svg)});
  }
}

// What tells the points of a sweep apart, what they are judged by, and why one does not count.
std::vector<std::string> columns_of(const sim::Sweep& sweep, const sim::Metric& metric) {
  std::vector<std::string> columns = {"reason", "replay", std::string(metric.name)};
  for (const sim::Axis& axis : sweep.axes) {
    columns.push_back(axis.name);
  }
  columns.insert(columns.end(), sweep.pareto.maximize.begin(), sweep.pareto.maximize.end());
  columns.insert(columns.end(), sweep.pareto.minimize.begin(), sweep.pareto.minimize.end());
  for (const sim::Condition& condition : sweep.where) {
    columns.push_back(condition.metric);
  }
  return columns;
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

Brief brief_of_roadmap(const base::Node& document, const BriefQuestion& question) {
  if (!question.metric.empty()) {
    throw base::InputError("error: --metric is of sweeps and scenarios; a roadmap names its own\n");
  }
  const sim::Roadmap roadmap = sim::read_roadmap(document);
  const sim::RoadmapResult result = [&] {
    sim::ReplayProgress points;
    const Progress progress(points.done, points.total, "points replayed", question.quiet);
    return sim::run_roadmap(roadmap, {0, !question.no_replay, nullptr, &points});
  }();
  if (!question.output.empty()) {
    write_roadmap_csv(roadmap, result, csv_of(question));
  }
  Brief page = brief_of(roadmap, result);
  add_cited(question, page);
  return page;
}

Brief brief_of_sweep(const base::Node& document, const BriefQuestion& question) {
  const sim::SweepPoints points(sim::read_sweep(document));
  const sim::ParetoGoal& goal = points.sweep().pareto;
  const sim::Metric* metric = metric_of(question.metric);
  if (metric == nullptr) {
    metric =
        sim::find_metric(goal.maximize.empty() ? goal.minimize.front() : goal.maximize.front());
  }
  sim::ResultTable result = sim::run_sweep(points, 0);
  sim::refuse_without_value(points, result);
  {
    sim::ReplayProgress rows;
    const Progress progress(rows.done, rows.total, "rows replayed", question.quiet);
    sim::replay_recommended(points, result, {0, !question.no_replay, metric, &rows});
  }
  if (!question.output.empty()) {
    ShownColumns columns = shown(result, points.sweep());
    const sim::ResultColumn* cited = result.find(metric->name);
    if (std::find(columns.begin(), columns.end(), cited) == columns.end()) {
      columns.push_back(cited);
    }
    std::vector<std::string> names;
    for (const sim::ResultColumn* column : columns) {
      names.push_back(column->name());
    }
    base::CsvWriter csv(std::filesystem::path(csv_of(question)), names);
    write_results(result, columns, 0, csv);
  }
  Brief page = brief_of(points, result, *metric);
  add_chart(points.sweep(), result, *metric, page);
  add_cited(question, page, columns_of(points.sweep(), *metric));
  return page;
}

// What the simulation says of the metric of a scenario.
std::string replayed_sentence(const base::Node& document, const BriefQuestion& question,
                              const sim::ServingEstimate& closed_form, const sim::Metric& metric) {
  sim::Replayed replayed;
  replayed.why_not = "--no-replay";
  if (!question.no_replay) {
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

Brief brief_of_scenario(const base::Node& document, const BriefQuestion& question) {
  const sim::OverriddenScenario scenario(document, "--set");
  sim::Workspace workspace;
  const sim::ServingEstimate estimate = sim::estimate(sim::view(scenario.scenario()), workspace);
  if (!estimate.fits()) {
    throw base::InputError(
        fmt::format("error: {} does not run: {}\n", question.name, sim::reason(estimate)));
  }
  const sim::Metric* metric = metric_of(question.metric);
  if (metric != nullptr && !std::isfinite(metric->value(estimate))) {
    throw base::InputError(
        fmt::format("error: --metric: {} has no value in this scenario\n", question.metric));
  }
  const ScenarioFindings findings = findings_of(scenario, estimate, metric);
  if (!question.output.empty()) {
    std::ostringstream rows;
    write_findings_csv(findings, rows);
    base::write_text(csv_of(question), rows.str());
  }
  Brief brief = brief_of(findings, scenario);
  brief.answer.push_back(
      scenario.scenario().training.trains()
          ? "This is estimated only: what trains is not replayed."
          : replayed_sentence(document, question, estimate, *findings.sensitivity.metrics.front()));
  add_cited(question, brief);
  return brief;
}

}  // namespace

Brief brief(const base::Node& document, const BriefQuestion& question) {
  if (!question.output.empty()) {
    base::check_beside(csv_of(question), question.output, false);
  }
  return document.find("workloads") != nullptr ? brief_of_roadmap(document, question)
         : document.find("axes") != nullptr    ? brief_of_sweep(document, question)
                                               : brief_of_scenario(document, question);
}

}  // namespace roofcast::cli
