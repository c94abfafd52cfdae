// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate/drawn_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/document/problems.hpp"
#include "base/statistics/quantile.hpp"
#include "base/units/unit_text.hpp"
#include "cli/tables/text_table.hpp"
#include "cli/text/json_answer.hpp"
#include "cli/text/scenario_text.hpp"
#include "sim/estimate.hpp"
#include "sim/scenario/sections.hpp"
#include "sim/training/training_run.hpp"

namespace roofcast::cli {
namespace {

using Value = std::function<double(const sim::RunOutcome&)>;

struct Row {
  const char* name;
  const char* label;
  const char* unit;
  Value value;
};

const Row kRunRows[] = {
    {"useful_share", "Steps and evaluations", "",
     [](const sim::RunOutcome& f) { return f.shares.useful; }},
    {"interruptions", "Interruptions", "",
     [](const sim::RunOutcome& f) { return f.interruptions; }},
    {"computed_again_share", "Computed again", "",
     [](const sim::RunOutcome& f) { return f.shares.lost; }},
    {"stalls_share", "Stalls for checkpoints", "",
     [](const sim::RunOutcome& f) { return f.shares.stalls; }},
    {"down_share", "Detection and restarts", "",
     [](const sim::RunOutcome& f) { return f.shares.down; }},
    {"spares_share", "Waits for a spare host", "",
     [](const sim::RunOutcome& f) { return f.shares.spares; }},
};

// What differs from run to run first: their time, or with `run.days` what they train in it.
std::vector<Row> rows_of(const DrawnRuns& answer) {
  std::vector<Row> rows = {{"run_s", "Run", "s", [](const auto& f) { return f.time.si(); }}};
  if (answer.tokens_per_second > 0.0) {
    rows.push_back({"run_tokens", "Tokens of the run", "tok", [&](const sim::RunOutcome& f) {
                      return answer.tokens_per_second * f.shares.useful * f.time.si();
                    }});
  }
  rows.insert(rows.end(), std::begin(kRunRows), std::end(kRunRows));
  return rows;
}

struct Drawn {
  double mean = 0;
  double p5 = 0;
  double p50 = 0;
  double p95 = 0;
};

Drawn summary(const DrawnRuns& answer, const Value& value) {
  std::vector<double> values;
  Drawn d;
  for (const sim::RunOutcome& f : answer.drawn) {
    values.push_back(value(f));
    d.mean += values.back() / static_cast<double>(answer.drawn.size());
  }
  std::sort(values.begin(), values.end());
  d.p5 = base::sorted_quantile(values, 0.05);
  d.p50 = base::sorted_quantile(values, 0.5);
  d.p95 = base::sorted_quantile(values, 0.95);
  return d;
}

}  // namespace

DrawnRuns draw_runs(const sim::Scenario& scenario, std::size_t runs, std::size_t seed) {
  if (runs == 0 || runs > kMostRuns) {
    throw base::InputError(
        fmt::format("error: --replications: {} is not from 1 to {}\n", runs, kMostRuns));
  }
  DrawnRuns answer;
  answer.seed = seed;
  answer.title = fmt::format("{}\n{}\n", title(scenario), load_text(scenario));
  const sim::ScenarioView s = sim::view(scenario);
  sim::Workspace workspace;
  const sim::ServingEstimate e = sim::estimate(s, workspace);
  if (!e.fits()) {
    answer.reason = sim::reason(e);
    return answer;
  }
  const sim::RunModel model =
      sim::run_model(s, e.workflow->step(), e.workflow->step_tokens(), e.gpus);
  answer.closed = sim::forecast(model).mean;
  // A failure takes 0.15 µs to draw.
  constexpr double kMostFailures = 1e9;
  if (answer.closed.interruptions * static_cast<double>(runs) > kMostFailures) {
    throw base::InputError(fmt::format(
        "error: --replications: {} runs of {} failures are too many to draw; ask for fewer runs\n",
        runs, display(answer.closed.interruptions, "")));
  }
  const bool by_days = s.run->days > 0.0;
  if (by_days) {
    const double useful = answer.closed.shares.useful * answer.closed.time.si();
    answer.tokens_per_second = e.workflow->run->tokens / useful;
  }
  base::Random random(seed, "failures");
  for (std::size_t i = 0; i < runs; ++i) {
    answer.drawn.push_back(by_days ? sim::draw_within(model, e.workflow->run->mean.time, random)
                                   : sim::draw(model, random));
  }
  return answer;
}

std::string text_of(const DrawnRuns& answer) {
  if (!answer.reason.empty()) {
    return fmt::format("{}does not run: {}\n", answer.title, answer.reason);
  }
  TextTable table({"metric", "closed form", "drawn, mean", "p5", "p50", "p95"});
  for (const Row& row : rows_of(answer)) {
    const Drawn d = summary(answer, row.value);
    if (row.value(answer.closed) < 1e-6 && d.mean < 1e-6) {
      continue;
    }
    table.add({row.label, display(row.value(answer.closed), row.unit), display(d.mean, row.unit),
               display(d.p5, row.unit), display(d.p50, row.unit), display(d.p95, row.unit)});
  }
  return fmt::format("{}{} runs drawn, seed {}\n\n{}", answer.title, answer.drawn.size(),
                     answer.seed, table.text());
}

nlohmann::ordered_json json_of(const DrawnRuns& answer) {
  nlohmann::ordered_json all = json_answer();
  if (!answer.reason.empty()) {
    all["reason"] = answer.reason;
    return all;
  }
  all["runs"] = answer.drawn.size();
  all["seed"] = answer.seed;
  for (const Row& row : rows_of(answer)) {
    const Drawn d = summary(answer, row.value);
    all[row.name] = {{"closed_form", row.value(answer.closed)},
                     {"mean", d.mean},
                     {"p5", d.p5},
                     {"p50", d.p50},
                     {"p95", d.p95}};
  }
  return all;
}

}  // namespace roofcast::cli
