// SPDX-License-Identifier: Apache-2.0
#include "cli/pages/scenario_brief.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cli/pages/brief_parts.hpp"
#include "cli/tables/metric_cells.hpp"
#include "cli/text/cost_text.hpp"
#include "cli/text/scenario_text.hpp"
#include "cli/text/training_text.hpp"
#include "sim/estimate.hpp"
#include "sim/scenario/sections.hpp"

namespace roofcast::cli {
namespace {

constexpr std::size_t kKnobs = 8;  // that the table shows
constexpr int kLooks = 16;         // for another limit, a quarter of an octave apart
constexpr int kHalvings = 10;
constexpr double kWorthSaying = 0.005;
constexpr double kWorthSayingOfRun =
    0.001;  // what a cause of failures takes is small, and worth comparing
constexpr std::size_t kFiguresOfKnob = 3;  // rows of write_sensitivity_csv
constexpr std::size_t kFiguresOfFree = 2;
constexpr std::size_t kFiguresOfError = 3;

// Where write_findings_csv puts things, from 1.
struct ScenarioRows {
  const SensitivityAnswer& a;
  std::size_t metric(std::size_t m) const {
    std::size_t row = 1;
    for (std::size_t i = 0; i < m; ++i) {
      row += 1 + kFiguresOfKnob * a.elasticities.size() +
             kFiguresOfFree * a.waterfalls[i].steps.size() + kFiguresOfError * a.errors[i].size();
    }
    return row;
  }
  std::size_t elasticity(std::size_t k) const { return 2 + kFiguresOfKnob * k; }
  std::size_t improved(std::size_t k) const { return elasticity(k) + 2; }
  std::size_t alone(std::size_t i) const {
    return elasticity(a.elasticities.size()) + kFiguresOfFree * i;
  }
  std::size_t error(std::size_t i) const {
    return alone(a.waterfalls.front().steps.size()) + kFiguresOfError * i;
  }
  std::size_t change(std::size_t i) const { return metric(a.metrics.size()) + i; }
};

std::string percent(double now, double then) {
  return fmt::format("{:+.1f} %", 100.0 * (then / now - 1.0));
}

// How many times better the first metric gets with a knob better by the gain; 0 where it has no value.
double gain_with(const SensitivityAnswer& a, std::size_t k) {
  const double now = a.metrics.front()->value(a.estimate);
  const double ratio = a.elasticities[k].of.front().improved / now;
  return std::isfinite(ratio) && ratio > 0.0
             ? (a.metrics.front()->better == sim::Better::lower ? 1.0 / ratio : ratio)
             : 0.0;
}

std::vector<std::size_t> by_gain(const SensitivityAnswer& a) {
  std::vector<std::size_t> order(a.elasticities.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t x, std::size_t y) { return gain_with(a, x) > gain_with(a, y); });
  return order;
}

std::string setting(const sim::QuantityKnob& knob, double factor) {
  return knob.whole ? knob.at(std::round(knob.number * factor)) : knob.times(factor);
}

// The word alone.
std::string_view limit_word(const sim::ServingEstimate& e, std::string_view metric) {
  const std::string_view own = limit_of(e, metric);
  return own.empty() ? limit_of(e, "throughput_tok_per_s_per_gpu") : own;
}

// The first factor in a direction at which the limit is another, found by bisection between two looks.
void look_for_change(const sim::OverriddenScenario& scenario, const sim::QuantityKnob& knob,
                     double direction, const SensitivityAnswer& a,
                     std::vector<LimitChange>& changes) {
  const std::string_view metric = a.metrics.front()->name;
  const std::string now(limit_word(a.estimate, metric));
  const auto limit_at = [&](double power) {
    const sim::OverriddenEstimate moved = scenario.explained({setting(knob, std::exp2(power))});
    return std::string(moved.refusal.empty() && moved.estimate.fits()
                           ? limit_word(moved.estimate, metric)
                           : std::string_view());
  };
  for (int look = 1; look <= kLooks && !now.empty(); ++look) {
    double beyond = direction * look / 4.0;
    std::string limit = limit_at(beyond);
    if (limit.empty()) {
      return;
    }
    if (limit == now) {
      continue;
    }
    double before = direction * (look - 1) / 4.0;
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = 0.5 * (before + beyond);
      const std::string there = limit_at(middle);
      (there == now ? before : beyond) = middle;
      limit = there == now ? limit : there;
    }
    const double factor =
        knob.whole ? std::round(knob.number * std::exp2(beyond)) / knob.number : std::exp2(beyond);
    changes.push_back({knob.path, scaled_text(knob.now, factor), factor, limit});
    return;
  }
}

void say_answer(const SensitivityAnswer& a, const std::vector<std::size_t>& order,
                const ScenarioRows& rows, Brief& brief) {
  const sim::Metric& metric = *a.metrics.front();
  const double now = metric.value(a.estimate);
  const std::string limit = limit_or_throughput(a.estimate, metric.name);
  const sim::Interval90 interval = sim::interval90(metric, a.estimate);
  std::string first = fmt::format("{} is {}", metric.label, display(now, metric.unit));
  first += std::isnan(interval.low)
               ? std::string()
               : fmt::format(" (90 %: {})", interval_text(interval, metric.unit));
  first += fmt::format(" {}{}", cite(rows.metric(0)),
                       limit.empty() ? std::string() : fmt::format(", limited by {}", limit));
  if (const sim::Waterfall& w = a.waterfalls.front(); !w.steps.empty()) {
    first += fmt::format("; with {} at no cost {} of it would be left {}",
                         sim::name(w.steps.front().resource),
                         display(w.steps.front().alone, metric.unit), cite(rows.alone(0)));
  }
  brief.answer.push_back(first + ".");
  if (!order.empty() && gain_with(a, order.front()) > 1.0) {
    const auto bought = [&](std::size_t k) {
      const double then = a.elasticities[k].of.front().improved;
      return fmt::format("{} ({}) {}", display(then, metric.unit), percent(now, then),
                         cite(rows.improved(k)));
    };
    const sim::QuantityKnob& best = a.elasticities[order[0]].knob;
    std::string second = fmt::format("{:g} times better, {} buys most: {}", a.steps.gain, best.path,
                                     bought(order[0]));
    if (order.size() > 1 && gain_with(a, order[1]) > 1.0) {
      second +=
          fmt::format("; next is {}: {}", a.elasticities[order[1]].knob.path, bought(order[1]));
    }
    brief.answer.push_back(second + ".");
  }
  if (metric.of_run && a.estimate.workflow->run->spare) {
    std::string third = spare_text(*a.estimate.workflow->run->spare);
    for (std::size_t m = 0; m < a.metrics.size(); ++m) {
      third += a.metrics[m]->name.starts_with("spare_host_") ? " " + cite(rows.metric(m)) : "";
    }
    brief.answer.push_back(third + ".");
  }
}

void say_evidence(const SensitivityAnswer& a, const std::vector<std::size_t>& order,
                  const ScenarioRows& rows, Brief& brief) {
  const sim::Metric& metric = *a.metrics.front();
  const double now = metric.value(a.estimate);
  TextTable knobs({"knob", "now", fmt::format("{:g} times better", a.steps.gain), "change",
                   "percent for one percent", "rows"});
  for (std::size_t i = 0; i < std::min(order.size(), kKnobs); ++i) {
    const sim::KnobElasticities& row = a.elasticities[order[i]];
    const sim::Elasticity& e = row.of.front();
    if (std::abs(e.improved / now - 1.0) >= (metric.of_run ? kWorthSayingOfRun : kWorthSaying)) {
      knobs.add({row.knob.path,
                 row.knob.figures > 1 ? fmt::format("{} figures", row.knob.figures) : row.knob.now,
                 display(e.improved, metric.unit), percent(now, e.improved),
                 fmt::format("{:+.3f}", e.value),
                 cite(rows.improved(order[i])) + cite(rows.elasticity(order[i]))});
    }
  }
  if (knobs.rows().size() > 1) {
    brief.evidence.push_back({fmt::format("{} with more of each; latencies{} are divided",
                                          metric.label, metric.of_run ? " and failures" : ""),
                              std::move(knobs)});
  }
  if (const sim::Waterfall& w = a.waterfalls.front(); !w.steps.empty()) {
    TextTable freed({"at no cost", "alone", "saves", "with all above", "rows"});
    for (std::size_t i = 0; i < w.steps.size(); ++i) {
      const sim::FreedResource& step = w.steps[i];
      const double rest = step.in_order > 1e-6 * w.now ? step.in_order : 0.0;
      freed.add({std::string(sim::name(step.resource)), display(step.alone, metric.unit),
                 fmt::format("{:.1f} %", 100.0 * (1.0 - step.alone / w.now)),
                 display(rest, metric.unit), cite(rows.alone(i)) + cite(rows.alone(i) + 1)});
    }
    brief.evidence.push_back(
        {fmt::format("{} with a resource at no cost", metric.label), std::move(freed)});
  }
  TextTable forecast({"metric", "value", "90 %", "limited by", "row"});
  for (std::size_t m = 0; m < a.metrics.size(); ++m) {
    const sim::Metric& each = *a.metrics[m];
    forecast.add({std::string(each.label), display(each.value(a.estimate), each.unit),
                  interval_text(sim::interval90(each, a.estimate), each.unit),
                  limit_or_throughput(a.estimate, each.name), cite(rows.metric(m))});
  }
  brief.evidence.push_back({"Forecast", std::move(forecast)});
}

void say_confidence(const SensitivityAnswer& a, const sim::Scenario& scenario,
                    const ScenarioRows& rows, Brief& brief) {
  const sim::Metric& metric = *a.metrics.front();
  const auto& errors = a.errors.front();
  if (!errors.empty()) {
    std::vector<std::string> shares;
    for (std::size_t i = 0; i < errors.size(); ++i) {
      if (errors[i].share >= kWorthSaying) {
        shares.push_back(fmt::format("{} {:.1f} % {}", errors[i].source, 100.0 * errors[i].share,
                                     cite(rows.error(i))));
      }
    }
    brief.confidence.push_back(fmt::format("The 90 % interval of {} is made of errors of {}.",
                                           metric.label, fmt::join(shares, ", ")));
    brief.confidence.push_back(fmt::format("If that of {} were known it would be {} {}{}.",
                                           errors.front().source,
                                           interval_text(errors.front().without, metric.unit),
                                           cite(rows.error(0) + 1), cite(rows.error(0) + 2)));
  }
  if (metric.of_run) {
    brief.confidence.emplace_back(
        "The percentiles of the run know the chance of failures at these rates alone. Rates of "
        "clusters differ by a factor of ten, and the error of the step comes on top.");
  }
  brief.confidence.push_back(fmt::format(
      "Parameters: {} ({}).", scenario.platform.system.calibration.name,
      hardware::provenance_text(a.estimate.provenance, scenario.platform.system.calibration)));
  brief.confidence.emplace_back(kIntervals);
}

}  // namespace

ScenarioFindings findings_of(const sim::OverriddenScenario& scenario,
                             const sim::ServingEstimate& estimate, const sim::Metric* metric) {
  ScenarioFindings f;
  SensitivityAnswer& a = f.sensitivity;
  a.title = title(scenario.scenario());
  a.estimate = estimate;
  sim::tell_causes(sim::view(scenario.scenario()), a.estimate);
  a.metrics = usual_metrics(estimate);
  for (const sim::Metric& each : sim::run_metrics()) {
    const bool told = std::any_of(a.metrics.begin(), a.metrics.end(),
                                  [&](const sim::Metric* m) { return m->name == each.name; });
    if (!told && std::isfinite(each.value(estimate))) {
      a.metrics.push_back(sim::find_metric(each.name));
    }
  }
  if (metric != nullptr) {
    std::erase(a.metrics, metric);
    a.metrics.insert(a.metrics.begin(), metric);
  }
  const auto quantities = sim::quantity_knobs(scenario.document());
  add_elasticities(scenario, quantities, a);
  sim::Workspace workspace;
  for (const sim::Metric* each : a.metrics) {
    a.waterfalls.push_back(each->unit == "s" ? sim::waterfall(scenario, quantities, *each)
                                             : sim::Waterfall{});
    a.errors.push_back(sim::error_shares(sim::view(scenario.scenario()), *each, workspace));
  }
  if (const auto order = by_gain(a); !order.empty() && gain_with(a, order.front()) > 1.0) {
    const sim::QuantityKnob& best = a.elasticities[order.front()].knob;
    look_for_change(scenario, best, best.less_is_better() ? -1.0 : 1.0, a, f.changes);
  }
  if (scenario.document().find_path("traffic.concurrency") != nullptr) {
    base::Problems problems;
    const sim::QuantityKnob clients =
        sim::knob_at({"--vary", "traffic.concurrency", {}}, scenario.document(), problems);
    problems.throw_if_any();
    look_for_change(scenario, clients, 1.0, a, f.changes);
    look_for_change(scenario, clients, -1.0, a, f.changes);
  }
  return f;
}

Brief brief_of(const ScenarioFindings& findings, const sim::OverriddenScenario& scenario) {
  const SensitivityAnswer& a = findings.sensitivity;
  const ScenarioRows rows{a};
  const std::string_view label = a.metrics.front()->label;
  Brief brief;
  brief.question = fmt::format("What limits {} of {}, and what would help?", label, a.title);
  const auto order = by_gain(a);
  say_answer(a, order, rows, brief);
  say_evidence(a, order, rows, brief);
  brief.assumptions.push_back(fmt::format("Load: {}.", load_text(scenario.scenario())));
  brief.assumptions.emplace_back(
      "A figure that is changed leaves the software, the calibration and all else as they are.");
  const bool costs = std::any_of(a.metrics.begin(), a.metrics.end(), [](const sim::Metric* m) {
    return m->unit.find("USD") != std::string_view::npos;
  });
  for (std::string& line : price_lines(scenario.document(), scenario.scenario(), costs)) {
    brief.assumptions.push_back(std::move(line));
  }
  say_confidence(a, scenario.scenario(), rows, brief);
  for (std::size_t i = 0; i < findings.changes.size(); ++i) {
    const LimitChange& change = findings.changes[i];
    brief.changes.push_back(fmt::format("With {} at {} (x{:.3g}) {} would limit {} {}.",
                                        change.knob, change.value, change.factor, change.limit,
                                        label, cite(rows.change(i))));
  }
  return brief;
}

void write_findings_csv(const ScenarioFindings& findings, std::ostream& out) {
  write_sensitivity_csv(findings.sensitivity, out);
  for (const LimitChange& change : findings.changes) {
    out << fmt::format("limit,{},{},{},{}\n", findings.sensitivity.metrics.front()->name,
                       change.knob, change.limit, change.factor);
  }
}

}  // namespace roofcast::cli
