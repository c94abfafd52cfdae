// SPDX-License-Identifier: Apache-2.0
#include "sim/confirm/replay_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace roofcast::sim {
namespace {

constexpr std::string_view kAlways[] = {"ttft_p95_s", "tpot_p95_s", "attainment"};

std::vector<const Metric*> replayed_metrics(const Sweep& sweep) {
  std::vector<const Metric*> metrics = simulated_metrics(sweep.where);
  for (const Metric* goal : goals_of(sweep)) {
    add_metric(metrics, is_simulated(*goal) ? goal : nullptr);
  }
  for (const std::string_view name : kAlways) {
    add_metric(metrics, find_metric(name));
  }
  return metrics;
}

}  // namespace

std::vector<const Metric*> goals_of(const Sweep& sweep) {
  std::vector<const Metric*> goals;
  for (const auto* names : {&sweep.pareto.maximize, &sweep.pareto.minimize}) {
    for (const std::string& name : *names) {
      goals.push_back(find_metric(name));
    }
  }
  return goals;
}

ReplayPlan plan_of(const Sweep& sweep, const Metric* decisive) {
  ReplayPlan plan;
  plan.targets = simulated_metrics(sweep.where);
  for (const Metric* goal : goals_of(sweep)) {
    add_metric(plan.targets, is_simulated(*goal) ? goal : nullptr);
  }
  add_metric(plan.targets, decisive != nullptr && is_simulated(*decisive) ? decisive : nullptr);
  return plan;
}

std::vector<std::string> replay_columns(const SweepPoints& points, bool replay) {
  std::vector<std::string> columns = {"replay"};
  if (!replay) {
    return columns;
  }
  columns.emplace_back("replay_note");
  for (const Metric* metric : replayed_metrics(points.sweep())) {
    if (points.scenario(0).training == nullptr) {
      columns.push_back(fmt::format("replayed_{}", metric->name));
    }
  }
  return columns;
}

ReplayColumns::ReplayColumns(const SweepPoints& points, ResultTable& table, bool replay,
                             double errors)
    : where_(points.sweep().where),
      goals_(goals_of(points.sweep())),
      table_(table),
      errors_(errors) {
  for (const std::string& name : replay_columns(points, replay)) {
    table_.add_column(name, name == "replay");  // nearly every row may be recommended
  }
  for (const Metric* metric : replayed_metrics(points.sweep())) {
    const std::string name = fmt::format("replayed_{}", metric->name);
    if (table_.find(name) != nullptr) {
      metric_columns_.emplace_back(metric, &table_.column(name));
    }
  }
}

Judgement ReplayColumns::set(std::size_t row, const Replayed& replayed) {
  Judgement judgement = judge(where_, replayed, errors_);
  const auto estimated = [&](const Metric& metric) {
    const ResultColumn* column = table_.find(metric.name);
    return column == nullptr ? NAN : column->number(row);
  };
  add(disagreements(estimated, replayed), judgement);
  compare(goals_, replayed, judgement);
  set_text("replay", row, name(judgement.verdict));
  set_text("replay_note", row, judgement.note);
  for (const auto& [metric, column] : metric_columns_) {
    column->set(row, replayed.done() ? metric->value(replayed.estimate) : NAN);
  }
  return judgement;
}

void ReplayColumns::break_row(std::size_t row, const Judgement& judgement) {
  set_text("meets", row, "false");
  set_text("reason", row, fmt::format("broken: {}", judgement.note));
}

void ReplayColumns::keep_row(std::size_t row) {
  set_text("meets", row, "true");
  set_text("reason", row, "");
}

void ReplayColumns::set_text(std::string_view name, std::size_t row, std::string_view text) {
  ResultColumn& column = table_.column(name);
  column.set_code(row, column.code_of(text));
}

bool ReplayColumns::is_set(std::size_t row) const { return !table_.column("replay").is_empty(row); }

}  // namespace roofcast::sim
