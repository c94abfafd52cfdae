// SPDX-License-Identifier: Apache-2.0
#include "cli/recommend/recommend_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/csv/csv.hpp"
#include "cli/launch/shell_commands.hpp"
#include "cli/recommend/recommend_changes.hpp"
#include "cli/recommend/recommended_row.hpp"
#include "cli/tables/metric_cells.hpp"
#include "cli/tables/result_csv.hpp"
#include "cli/tables/text_table.hpp"
#include "cli/text/cost_text.hpp"
#include "cli/text/json_answer.hpp"
#include "cli/text/missed_text.hpp"
#include "sim/decide/solve.hpp"
#include "sim/scenario/sections.hpp"

namespace roofcast::cli {
namespace {

using Json = nlohmann::ordered_json;
using sim::Group;
using sim::RankedRow;
using sim::Recommendation;

constexpr const char* kColumns[] = {"throughput_tok_per_s_per_gpu", "ttft_p95_s", "tpot_p95_s",
                                    "cost_usd_per_mtok"};

const sim::SweepPoints& points_of(const Recommendation& r, const RankedRow& row) {
  return *r.scans[row.scan].points;
}

std::string load_of(const sim::ScenarioView& s) {
  return s.traffic->arrivals
             ? fmt::format("{:.4g} /s", workloads::mean_rate(*s.traffic->arrivals).si())
             : fmt::format("{}", s.traffic->concurrency);
}

double value_of(const RankedRow& row, const char* metric) {
  return sim::find_metric(metric)->value(row.estimate);
}

std::string objective_text(const sim::Question& q, double value) {
  const std::string text = display(value, q.objective.metric->unit);
  return q.objective.metric->name == "cost_usd_per_mtok" ? text + ", prompts included" : text;
}

std::string sentence(const sim::Question& q, const Recommendation& r) {
  const RankedRow& best = *r.answers.front();
  return fmt::format("{}: {}; {}.\n", fmt::join(labels_of(points_of(r, best), best.row), ", "),
                     finding(q, best), verdict_text(best));
}

// The second and the third answer.
std::string next_best(const sim::Question& q, const Recommendation& r) {
  if (r.answers.size() < 2) {
    return "no other deployment is left\n";
  }
  const RankedRow& best = *r.answers.front();
  std::string text;
  for (std::size_t i = 1; i < std::min(r.answers.size(), sim::kWantedAnswers); ++i) {
    const RankedRow& next = *r.answers[i];
    text += fmt::format("{}: {}: {} ({:+.2g} %)\n", i == 1 ? "runner-up" : "third",
                        fmt::join(labels_of(points_of(r, next), next.row), ", "),
                        display(next.value, q.objective.metric->unit),
                        100.0 * (next.value - best.value) / std::abs(best.value));
  }
  return text;
}

std::string table_of(const sim::Question& q, const Recommendation& r) {
  const sim::SweepPoints& first = *r.scans.front().points;
  const bool free = q.load == sim::Load::free;
  std::vector<std::string> header = {"rank"};
  for (const sim::Axis& axis : first.sweep().axes) {
    if (axis.name != "traffic.concurrency") {
      header.push_back(axis.name == "serving.stack" ? "stack" : axis.name);
    }
  }
  header.insert(header.end(), {"GPUs", free ? "clients" : "load", "tok/s/GPU", "TTFT p95",
                               "TPOT p95", "USD/Mtok"});
  const std::string_view objective = q.objective.metric->name;
  const bool own =
      std::find(std::begin(kColumns), std::end(kColumns), objective) == std::end(kColumns) &&
      objective != "gpus";
  if (own) {
    header.emplace_back(q.objective.metric->label);
  }
  header.insert(header.end(), {"replay", "limited by"});
  TextTable table(header);
  std::size_t rank = 0;
  for (const Group& group : r.groups) {
    if (group.best.empty()) {
      continue;
    }
    const RankedRow& row = group.best.front();
    std::vector<std::string> cells = {fmt::format("{}", ++rank)};
    for (std::string& label : labels_of(points_of(r, row), row.row)) {
      cells.push_back(std::move(label));
    }
    cells.push_back(fmt::format("{}", row.estimate.gpus));
    cells.push_back(load_of(points_of(r, row).scenario(row.row)));
    cells.push_back(display(value_of(row, kColumns[0]), ""));
    cells.push_back(display(value_of(row, kColumns[1]), "s"));
    cells.push_back(display(value_of(row, kColumns[2]), "s"));
    cells.push_back(display(value_of(row, kColumns[3]), ""));
    if (own) {
      cells.push_back(display(row.value, q.objective.metric->unit));
    }
    cells.emplace_back(sim::name(row.judgement.verdict));
    cells.emplace_back(limit_text(row.estimate, "tpot_mean_s"));
    table.add(std::move(cells));
    if (rank == 1) {
      table.mark_last();
    }
  }
  return table.text();
}

std::string group_name(const Recommendation& r, const Group& group) {
  const sim::Scan& scan = r.scans[group.scan];
  return fmt::format("{}, {}", scan.points->sweep().axes.front().values[group.system].label,
                     scan.of_two_pools ? "two pools" : "one pool");
}

// Why a group has no answer: "misses ttft_p95_s <= 1 by 37 %: 1.37 s".
std::string missing_text(const sim::Question& q, const Recommendation& r, const Group& group) {
  const sim::Scan& scan = r.scans[group.scan];
  if (!group.has_nearest) {
    return group.reason;
  }
  if (group.met > 0 && group.broken > 0) {
    return fmt::format(
        "all {} replays of {} rows that are estimated to meet break{}; the first: {}", group.broken,
        group.met, group.tries == sim::kMostTries ? ", and the rest was given up" : "",
        group.broken_note);
  }
  std::vector<std::string> labels = labels_of(*scan.points, group.nearest);
  labels.erase(labels.begin());
  const std::string load =
      q.load == sim::Load::free
          ? fmt::format(", clients {}", load_of(scan.points->scenario(group.nearest)))
          : "";
  return fmt::format("nearest is {}{}, which {}", fmt::join(labels, ", "), load,
                     missed_text(q.where, scan.table, group.nearest));
}

// Of each system.
std::string prices_text(const Recommendation& r) {
  std::string text;
  const sim::SweepPoints& points = *r.scans.front().points;
  for (const sim::AxisValue& value : points.sweep().axes.front().values) {
    base::Node document = points.sweep().base;
    document["system"] = value.set.front().value;
    if (const std::string price = price_text(std::move(document));
        text.find(price) == std::string::npos) {
      text += price;
    }
  }
  return text;
}

Json row_json(const Recommendation& r, const RankedRow& row) {
  const sim::SweepPoints& points = points_of(r, row);
  Json json;
  const auto& axes = points.sweep().axes;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    json[axes[axis].name] = points.label(row.row, axis);
  }
  json["pools"] = r.scans[row.scan].of_two_pools ? 2 : 1;
  json["replay"] = {{"verdict", sim::name(row.judgement.verdict)}, {"note", row.judgement.note}};
  for (const sim::Metric& metric : sim::metrics()) {
    if (const double value = metric.value(row.estimate); !std::isnan(value)) {
      json["metrics"][std::string(metric.name)] = json_number(value);
    }
  }
  if (row.estimate.parent_figures != nullptr) {
    json["parent_figures"] = *row.estimate.parent_figures;
  }
  return json;
}

}  // namespace

std::string finding(const sim::Question& q, const RankedRow& row) {
  const bool maximizes = q.objective.direction == sim::Direction::maximize;
  return fmt::format("the {} {}, {}", maximizes ? "most" : "least", q.objective.metric->label,
                     objective_text(q, row.value));
}

std::string verdict_text(const RankedRow& row) {
  const std::string& note = row.judgement.note;
  switch (row.judgement.verdict) {
    case sim::Verdict::confirmed:
      return fmt::format("confirmed: the conditions hold in a replay of {}", note);
    case sim::Verdict::differs:
      return fmt::format("the conditions hold in a replay, which differs from the estimate: {}",
                         note);
    default:
      return fmt::format("estimated only: {}", note);
  }
}

std::string nearest_limit(const sim::Question& q, const RankedRow& row) {
  const sim::Condition* nearest = nullptr;
  double least = 0.0;
  for (const sim::Condition& c : q.where) {
    const double slack = sim::slack(c, row.estimate);
    if (!std::isnan(slack) && (nearest == nullptr || slack < least)) {
      nearest = &c;
      least = slack;
    }
  }
  return nearest == nullptr
             ? ""
             : fmt::format("{} is nearest to its limit: {}, {:.2g} % of {} left",
                           sim::find_metric(nearest->metric)->label,
                           column_value(nearest->metric,
                                        sim::find_metric(nearest->metric)->value(row.estimate)),
                           100.0 * least, column_value(nearest->metric, nearest->bound));
}

std::vector<std::string> missing_groups(const sim::Question& q, const Recommendation& r) {
  std::vector<std::string> lines;
  for (const Group& group : r.groups) {
    if (group.best.empty()) {
      lines.push_back(fmt::format("{}: {}", group_name(r, group), missing_text(q, r, group)));
    }
  }
  return lines;
}

std::string recommend_text(const sim::Question& q, const Heading& heading,
                           const Recommendation& r) {
  std::string text = fmt::format("{}\n\n", heading.title);
  if (!r.found()) {
    text +=
        fmt::format("Nothing meets the conditions.\n\n{}\n", fmt::join(missing_groups(q, r), "\n"));
  } else {
    const RankedRow& best = *r.answers.front();
    text += sentence(q, r);
    if (const std::string limit = nearest_limit(q, best); !limit.empty()) {
      text += limit + "\n";
    }
    text += next_best(q, r);
    text += fmt::format("\nBest of each system, with one pool and with two:\n{}", table_of(q, r));
    if (q.load == sim::Load::free) {
      text +=
          "Clients are tried 8 to an octave: up to an eighth more may hold, which solve --vary "
          "traffic.concurrency finds.\n";
    }
    if (const std::vector<std::string> missing = missing_groups(q, r); !missing.empty()) {
      text += fmt::format("\n{}\n", fmt::join(missing, "\n"));
    }
    if (const std::vector<std::string> changes = changes_of(q, r); !changes.empty()) {
      text += fmt::format("\nWhat would change the answer:\n  {}\n", fmt::join(changes, "\n  "));
    }
    text += fmt::format("\nMODEL is a checkpoint in this precision:\n{}",
                        launch_commands(sim::read_scenario(scenario_of(r, best))));
  }
  text += "\n" + prices_text(r);
  for (const RankedRow* row : r.answers) {
    add_parents(points_of(r, *row).scenario(row->row), text);
  }
  for (const std::string& note : heading.notes) {
    text += note + "\n";
  }
  return text;
}

Json recommend_json(const sim::Question& q, const Heading& heading, const Recommendation& r) {
  Json json = {{"question", heading.title}, {"found", r.found()}};
  json["objective"] = q.objective.metric->name;
  json["rows"] = r.rows;
  json["replays"] = r.replays;
  json["answers"] = Json::array();
  for (const RankedRow* row : r.answers) {
    json["answers"].push_back(row_json(r, *row));
  }
  json["missing"] = Json::array();
  for (const Group& group : r.groups) {
    if (group.best.empty()) {
      json["missing"].push_back(
          {{"group", group_name(r, group)}, {"reason", missing_text(q, r, group)}});
    }
  }
  if (r.found()) {
    json["changes"] = changes_of(q, r);
    json["launch"] = launch_commands(sim::read_scenario(scenario_of(r, *r.answers.front())));
  }
  json["notes"] = heading.notes;
  return json;
}

}  // namespace roofcast::cli
