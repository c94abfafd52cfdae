// SPDX-License-Identifier: Apache-2.0
#include "cli/text/sensitivity_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/csv/csv.hpp"
#include "cli/tables/metric_cells.hpp"
#include "cli/tables/text_table.hpp"
#include "cli/text/json_answer.hpp"
#include "sim/result/causes.hpp"

namespace roofcast::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kShown = 0.005;  // elasticities from here on
constexpr double kHalfBar = 16.0;

double magnitude(double value) { return std::isnan(value) ? 0.0 : std::abs(value); }

std::string signed_number(double value) {
  return std::isnan(value) ? "-" : fmt::format("{:+.3f}", value);
}

// What to mind of an elasticity.
std::string note_of(const sim::KnobElasticities& row, std::size_t m) {
  const sim::Elasticity& e = row.of[m];
  const bool uneven =
      row.note.empty() && std::abs(e.half_step - e.value) > 0.02 + 0.1 * std::abs(e.value);
  return uneven ? fmt::format("not smooth: {:+.3f} of half a step", e.half_step) : row.note;
}

std::string change(double now, double then) {
  return std::isfinite(then) ? fmt::format("{:+.1f} %", 100.0 * (then / now - 1.0)) : "-";
}

std::string bar(double value, double most) {
  const auto size = static_cast<std::size_t>(std::lround(kHalfBar * magnitude(value) / most));
  const std::string marks(size, '#');
  return fmt::format("{:>16}|{:<16}", value < 0.0 ? marks : "", value < 0.0 ? "" : marks);
}

std::string now_of(const sim::QuantityKnob& knob) {
  return knob.figures > 1 ? fmt::format("{} figures", knob.figures) : knob.now;
}

std::string tornado(const SensitivityAnswer& a, std::size_t m) {
  const double now = a.metrics[m]->value(a.estimate);
  std::vector<std::size_t> order(a.elasticities.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto value = [&](std::size_t k) { return a.elasticities[k].of[m].value; };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) {
    return magnitude(value(x)) > magnitude(value(y));
  });
  TextTable table({"knob", "now", "elasticity", fmt::format("{:>16}|{:<16}", "falls", "rises"),
                   fmt::format("{:g} times better", a.steps.gain), ""});
  std::size_t hidden = 0;
  const double most = order.empty() ? 1.0 : std::max(magnitude(value(order.front())), kShown);
  for (const std::size_t k : order) {
    const sim::KnobElasticities& row = a.elasticities[k];
    if (magnitude(value(k)) < kShown && row.note.empty()) {
      ++hidden;
      continue;
    }
    table.add({row.knob.path, now_of(row.knob), signed_number(value(k)), bar(value(k), most),
               change(now, row.of[m].improved), note_of(row, m)});
  }
  std::string out = table.rows().size() > 1 ? table.text() : "";
  if (hidden > 0) {
    out += fmt::format("{} more below {}\n", hidden, kShown);
  }
  if (!a.rates_less_latencies.empty() && a.metrics[m]->unit == "s") {
    out += fmt::format("rates less latencies: {:+.3f}; -1 where no other time matters\n",
                       a.rates_less_latencies[m]);
  }
  return out;
}

std::string freed(const SensitivityAnswer& a, std::size_t m) {
  const sim::Waterfall& w = a.waterfalls[m];
  if (w.steps.empty()) {
    return {};
  }
  const MetricWords words = words_of(*a.metrics[m], has_prompts(a.estimate));
  // What is left of what is free is nothing.
  const auto text = [&](double value) {
    return display(value > 1e-6 * w.now ? value : 0.0, words.unit);
  };
  TextTable table({"if free", "alone", "saves", "and all above", "saves more"});
  double before = w.now;
  for (const sim::FreedResource& step : w.steps) {
    table.add({std::string(sim::name(step.resource)), text(step.alone),
               fmt::format("{:.1f} %", 100.0 * (1.0 - step.alone / w.now)), text(step.in_order),
               fmt::format("{:.1f} %", 100.0 * (before - step.in_order) / w.now)});
    before = step.in_order;
  }
  const bool worse = std::any_of(
      w.steps.begin(), w.steps.end(),
      [&](const sim::FreedResource& step) { return step.alone > (1.0 + kShown) * w.now; });
  return fmt::format("\n{}{}", table.text(),
                     worse ? "less than nothing is saved where requests come back sooner and meet "
                             "more prompts: e2e_mean_s and throughput have both sides\n"
                           : "");
}

std::string uncertain(const SensitivityAnswer& a, std::size_t m) {
  if (a.errors[m].empty()) {
    return {};
  }
  const MetricWords words = words_of(*a.metrics[m], has_prompts(a.estimate));
  const auto text = [&](sim::Interval90 i) {
    return fmt::format("{} to {}", display(i.low, words.unit), display(i.high, words.unit));
  };
  TextTable table({"error of", "share", fmt::format("{} if it were known", words.label)});
  for (const sim::ErrorShare& each : a.errors[m]) {
    if (each.share >= kShown) {
      table.add({each.source, fmt::format("{:.1f} %", 100.0 * each.share), text(each.without)});
    }
  }
  return fmt::format("\n90 % interval {}, from\n{}",
                     text(sim::interval90(*a.metrics[m], a.estimate)), table.text());
}

std::string range_text(const sim::KnobRange& range) {
  return range.listed.empty() ? fmt::format("{}..{}", range.text(range.low), range.text(range.high))
                              : fmt::format("{}", fmt::join(range.listed, ","));
}

std::string varied(const SensitivityAnswer& a, std::size_t m) {
  if (a.ranges.empty()) {
    return {};
  }
  const MetricWords words = words_of(*a.metrics[m], has_prompts(a.estimate));
  const sim::MetricVariance& v = a.variance.of[m];
  const auto text = [](base::SobolIndex i) {
    return std::isnan(i.value) ? std::string("-")
                               : fmt::format("{:.3f} +- {:.3f}", i.value, i.half_width90);
  };
  TextTable table({"knob", "range", "first order", "total"});
  for (std::size_t i = 0; i < a.ranges.size(); ++i) {
    table.add({a.ranges[i].path, range_text(a.ranges[i]), text(v.indices.first[i]),
               text(v.indices.total[i])});
  }
  std::string out = fmt::format(
      "\nover the ranges {} on average, {} to {} nine times in ten; its variance from\n{}",
      display(v.mean, words.unit), display(v.low90, words.unit), display(v.high90, words.unit),
      table.text());
  const std::size_t out_of = a.variance.rows - v.indices.rows;
  if (out_of > 0) {
    out += fmt::format("{} of {} rows of the sample are left out: points of them do not fit\n",
                       out_of, a.variance.rows);
  }
  return out;
}

Json elasticities_json(const SensitivityAnswer& a, std::size_t m) {
  Json all = Json::array();
  for (const sim::KnobElasticities& row : a.elasticities) {
    Json json = {{"knob", row.knob.path}, {"now", row.knob.now}};
    json["time_exponent"] = row.knob.time;
    json["resource"] = row.knob.resource ? Json(sim::name(*row.knob.resource)) : Json();
    json["elasticity"] = json_number(row.of[m].value);
    json["elasticity_at_half_step"] = json_number(row.of[m].half_step);
    json["improved"] = json_number(row.of[m].improved);
    json["note"] = row.note;
    all.push_back(json);
  }
  return all;
}

Json metric_json(const SensitivityAnswer& a, std::size_t m) {
  const sim::Metric& metric = *a.metrics[m];
  Json json = {{"value", json_number(metric.value(a.estimate))}};
  json["elasticities"] = elasticities_json(a, m);
  json["rates_less_latencies"] =
      a.rates_less_latencies.empty() ? Json() : json_number(a.rates_less_latencies[m]);
  json["waterfall"] = Json::array();
  for (const sim::FreedResource& step : a.waterfalls[m].steps) {
    json["waterfall"].push_back({{"free", sim::name(step.resource)},
                                 {"alone", json_number(step.alone)},
                                 {"in_order", json_number(step.in_order)}});
  }
  json["errors"] = Json::array();
  for (const sim::ErrorShare& each : a.errors[m]) {
    json["errors"].push_back({{"source", each.source},
                              {"share", each.share},
                              {"low90_without", json_number(each.without.low)},
                              {"high90_without", json_number(each.without.high)}});
  }
  if (a.ranges.empty()) {
    return json;
  }
  const sim::MetricVariance& v = a.variance.of[m];
  Json shares = Json::array();
  for (std::size_t i = 0; i < a.ranges.size(); ++i) {
    shares.push_back({{"knob", a.ranges[i].path},
                      {"range", range_text(a.ranges[i])},
                      {"first_order", json_number(v.indices.first[i].value)},
                      {"first_order_half_width90", json_number(v.indices.first[i].half_width90)},
                      {"total", json_number(v.indices.total[i].value)},
                      {"total_half_width90", json_number(v.indices.total[i].half_width90)}});
  }
  json["variance"] = {{"mean", json_number(v.mean)},
                      {"low90", json_number(v.low90)},
                      {"high90", json_number(v.high90)},
                      {"rows", v.indices.rows},
                      {"variance", json_number(v.indices.variance)},
                      {"shares", shares}};
  return json;
}

}  // namespace

std::vector<const sim::Metric*> usual_metrics(const sim::ServingEstimate& estimate) {
  std::vector<const sim::Metric*> all;
  for (const char* name : {"run_s", "run_usd", "step_s", "tpot_mean_s", "ttft_mean_s",
                           "task_mean_s", "throughput_tok_per_s_per_gpu"}) {
    const sim::Metric* metric = sim::find_metric(name);
    const double value = metric->value(estimate);
    if (std::isfinite(value) && value > 0.0) {
      all.push_back(metric);
    }
  }
  return all;
}

void add_elasticities(const sim::OverriddenScenario& scenario,
                      const std::vector<sim::QuantityKnob>& quantities, SensitivityAnswer& a) {
  a.elasticities = sim::elasticities(scenario, quantities, a.metrics, a.steps);
  for (std::size_t m = 0; m < a.metrics.size(); ++m) {
    a.rates_less_latencies.push_back(sim::sum_over_rates(a.elasticities, m));
  }
  std::erase_if(a.elasticities,
                [](const sim::KnobElasticities& row) { return row.knob.is_of_the_parent(); });
}

std::string sensitivity_text(const SensitivityAnswer& a) {
  std::string out = a.title + "\n";
  for (std::size_t m = 0; m < a.metrics.size(); ++m) {
    const sim::Metric& metric = *a.metrics[m];
    const std::string limit = limit_text(a.estimate, metric.name);
    const sim::Limited limited = sim::limited(a.estimate, metric.name);
    const MetricWords words = words_of(metric, has_prompts(a.estimate));
    out += fmt::format("\n{} {}{}: percent of it for one percent of\n\n", words.label,
                       display(metric.value(a.estimate), words.unit),
                       limit.empty() ? std::string() : fmt::format(", limited by {}", limit));
    out += limited.shares.empty()
               ? std::string()
               : fmt::format("what the time is for: {}\n\n", shares_text(limited.shares));
    out += tornado(a, m) + freed(a, m) + uncertain(a, m) + varied(a, m);
  }
  return out;
}

Json sensitivity_json(const SensitivityAnswer& a) {
  Json json = {{"scenario", a.title}, {"step", a.steps.step}, {"gain", a.steps.gain}};
  if (!a.ranges.empty()) {
    json["rows"] = a.variance.rows;
    json["estimates"] = a.variance.estimates;
  }
  for (std::size_t m = 0; m < a.metrics.size(); ++m) {
    json["metrics"][std::string(a.metrics[m]->name)] = metric_json(a, m);
  }
  return json;
}

void write_sensitivity_csv(const SensitivityAnswer& a, std::ostream& out) {
  base::CsvWriter csv(out, {"analysis", "metric", "name", "figure", "value"});
  for (std::size_t m = 0; m < a.metrics.size(); ++m) {
    const auto row = [&](std::string_view analysis, std::string_view name, std::string_view figure,
                         double value) {
      csv.append(analysis);
      csv.append(a.metrics[m]->name);
      csv.append(name);
      csv.append(figure);
      csv.append(value);
      csv.end_row();
    };
    row("estimate", "", "value", a.metrics[m]->value(a.estimate));
    for (const sim::KnobElasticities& each : a.elasticities) {
      row("elasticity", each.knob.path, "elasticity", each.of[m].value);
      row("elasticity", each.knob.path, "elasticity_at_half_step", each.of[m].half_step);
      row("elasticity", each.knob.path, "improved", each.of[m].improved);
    }
    for (const sim::FreedResource& step : a.waterfalls[m].steps) {
      row("waterfall", sim::name(step.resource), "alone", step.alone);
      row("waterfall", sim::name(step.resource), "in_order", step.in_order);
    }
    for (const sim::ErrorShare& each : a.errors[m]) {
      row("errors", each.source, "share", each.share);
      row("errors", each.source, "low90_without", each.without.low);
      row("errors", each.source, "high90_without", each.without.high);
    }
    for (std::size_t i = 0; i < a.ranges.size(); ++i) {
      const base::SobolIndices& v = a.variance.of[m].indices;
      row("variance", a.ranges[i].path, "first_order", v.first[i].value);
      row("variance", a.ranges[i].path, "first_order_half_width90", v.first[i].half_width90);
      row("variance", a.ranges[i].path, "total", v.total[i].value);
      row("variance", a.ranges[i].path, "total_half_width90", v.total[i].half_width90);
    }
  }
  csv.close();
}

}  // namespace roofcast::cli
