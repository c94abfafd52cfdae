// SPDX-License-Identifier: Apache-2.0
#include "cli/text/solve_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/csv/csv.hpp"
#include "cli/tables/metric_cells.hpp"
#include "cli/tables/text_table.hpp"
#include "cli/text/json_answer.hpp"

namespace roofcast::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kBroken = 5;  // that are listed

std::vector<const sim::Metric*> printed_metrics(const SolveAnswer& a) {
  std::vector<const sim::Metric*> metrics;
  const auto add = [&](const sim::Metric* metric) {
    if (metric != nullptr && std::find(metrics.begin(), metrics.end(), metric) == metrics.end()) {
      metrics.push_back(metric);
    }
  };
  add(a.objective);
  for (const SolvedCondition& c : a.conditions) {
    add(sim::find_metric(c.condition.metric));
  }
  for (const char* name :
       {"ttft_mean_s", "tpot_mean_s", "requests_per_s", "throughput_tok_per_s_per_gpu",
        "cost_usd_per_mtok", "utilisation", "gpus"}) {
    const sim::Metric* metric = sim::find_metric(name);
    if (a.estimate.fits() && std::isfinite(metric->value(a.estimate))) {
      add(metric);
    }
  }
  return metrics;
}

double simulated(const SolveAnswer& a, const sim::Metric& metric) {
  return a.replayed && sim::is_simulated(metric) ? metric.value(*a.replayed) : NAN;
}

std::string share(double part) {
  return fmt::format("{:.{}f}%", 100.0 * part, std::abs(part) < 0.1 ? 1 : 0);
}

// "1.45 USD/Mtok (-2%), traffic.concurrency=48": the metric, and the knobs that change.
std::string looser(const SolveAnswer& a, const SolvedCondition& c) {
  if (c.looser_values.empty()) {
    return "the same";
  }
  std::vector<std::string> parts;
  if (a.objective != nullptr) {
    const double now = a.objective->value(a.estimate);
    parts.push_back(fmt::format("{} ({:+.2g}%)", display(c.looser_metric, a.objective->unit),
                                100.0 * (c.looser_metric - now) / std::abs(now)));
  }
  for (std::size_t i = 0; i < a.paths.size(); ++i) {
    if (c.looser_values[i] != a.values[i]) {
      parts.push_back(fmt::format("{}={}", a.paths[i], c.looser_values[i]));
    }
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string condition_table(const SolveAnswer& a) {
  TextTable table(
      a.found ? std::vector<std::string>{"condition", "value", "slack", "with 1% more of it"}
              : std::vector<std::string>{"condition", "value", "missed by", "limited by"});
  for (const SolvedCondition& c : a.conditions) {
    if (const sim::Metric* metric = sim::find_metric(c.condition.metric)) {
      const std::string value =
          display(metric->value(a.result()), words_of(*metric, has_prompts(a.result())).unit);
      if (a.found) {
        table.add({c.condition.text, value, share(c.slack), looser(a, c)});
      } else {
        table.add({c.condition.text, value, c.slack < 0.0 ? share(-c.slack) : "-",
                   limit_text(a.estimate, metric->name)});
      }
    }
  }
  return table.rows().size() > 1 ? table.text() : "";
}

}  // namespace

std::string solve_text(const SolveAnswer& a) {
  std::string text = fmt::format("{}\n\n{}\n", a.title, a.sentence);
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    text += fmt::format("  --set '{}={}'\n", a.paths[i], a.values[i]);
  }
  for (const std::string& note : a.notes) {
    text += fmt::format("  {}\n", note);
  }
  text += fmt::format("  {}: {}\n", sim::name(a.judgement.verdict), a.judgement.note);
  for (std::size_t i = 0; i < std::min(a.broken.size(), kBroken); ++i) {
    text += fmt::format("  broken: {}: {}\n", a.broken[i].knobs, a.broken[i].note);
  }
  if (a.broken.size() > kBroken) {
    text += fmt::format("  and {} more are broken\n", a.broken.size() - kBroken);
  }
  if (!a.estimate.fits()) {
    return text;
  }
  if (const std::string conditions = condition_table(a); !conditions.empty()) {
    text += fmt::format("\n{}", conditions);
  }
  std::vector<std::string> header = {"metric", "value", "limited by"};
  if (a.replayed) {
    header.insert(header.begin() + 2, "simulated");
  }
  TextTable table(header);
  for (const sim::Metric* metric : printed_metrics(a)) {
    const MetricWords words = words_of(*metric, has_prompts(a.estimate));
    std::vector<std::string> row = {words.label, display(metric->value(a.estimate), words.unit),
                                    limit_text(a.estimate, metric->name)};
    if (a.replayed) {
      const double value = simulated(a, *metric);
      row.insert(row.begin() + 2, std::isnan(value) ? "" : display(value, words.unit));
    }
    table.add(row);
  }
  const bool has_cost = std::isfinite(sim::find_metric("cost_usd_per_mtok")->value(a.estimate));
  return text + fmt::format("\n{}{}", table.text(), has_cost ? a.price : "") + a.parents;
}

Json solve_json(const SolveAnswer& a) {
  Json json = {{"scenario", a.title}, {"found", a.found}};
  const auto values = [&](const std::vector<std::string>& of) {
    Json all = Json::object();
    for (std::size_t i = 0; i < of.size(); ++i) {
      all[a.paths[i]] = of[i];
    }
    return all;
  };
  json["values"] = values(a.values);
  if (a.objective != nullptr) {
    json["objective"] = a.objective->name;
    json["every_combination"] = a.every;
    json["tried"] = a.tried;
    json["met"] = a.met;
  }
  json["notes"] = a.notes;
  json["replay"] = {{"verdict", sim::name(a.judgement.verdict)}, {"note", a.judgement.note}};
  for (const SolveAnswer::Broken& broken : a.broken) {
    json["replay"]["broken"].push_back({{"knobs", broken.knobs}, {"note", broken.note}});
  }
  json["conditions"] = Json::array();
  for (const SolvedCondition& c : a.conditions) {
    Json condition = {{"condition", c.condition.text}, {"slack", json_number(c.slack)}};
    if (!c.looser_values.empty()) {
      condition["one_per_cent_more"]["values"] = values(c.looser_values);
      if (a.objective != nullptr) {
        condition["one_per_cent_more"][std::string(a.objective->name)] =
            json_number(c.looser_metric);
      }
    }
    json["conditions"].push_back(std::move(condition));
  }
  for (const sim::Metric* metric : printed_metrics(a)) {
    const std::string name(metric->name);
    json["metrics"][name] =
        json_number(a.estimate.fits() ? metric->value(a.estimate) : std::nan(""));
    if (a.replayed) {
      json["simulated"][name] = json_number(simulated(a, *metric));
    }
  }
  if (a.estimate.parent_figures != nullptr) {
    json["parent_figures"] = *a.estimate.parent_figures;
  }
  return json;
}

void write_solve_csv(const SolveAnswer& a, std::ostream& out) {
  std::vector<std::string> columns = a.paths;
  columns.insert(columns.end(), {"fits", "meets", "reason", "replay", "replay_note"});
  const bool parents = a.result().parent_figures != nullptr;
  add_metric_columns(columns, parents);
  base::CsvWriter csv(out, columns);
  for (const std::string& value : a.values) {
    csv.append(value);
  }
  csv.append(std::string_view(a.estimate.fits() ? "true" : "false"));
  csv.append(std::string_view(a.found ? "true" : "false"));
  std::vector<sim::Condition> conditions;
  for (const SolvedCondition& c : a.conditions) {
    conditions.push_back(c.condition);
  }
  csv.append(sim::missed(conditions, a.result()));
  csv.append(sim::name(a.judgement.verdict));
  csv.append(a.judgement.note);
  append_metrics(csv, a.result(), parents);
  csv.end_row();
  csv.close();
}

}  // namespace roofcast::cli
