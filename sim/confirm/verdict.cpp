// SPDX-License-Identifier: Apache-2.0
#include "sim/confirm/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/confirm/believed.hpp"

namespace roofcast::sim {
namespace {

constexpr double kNear = 2.0;   // standard errors
constexpr double kSame = 0.02;  // of a value: no more apart is the same

// The value, worse by so many standard errors.
double worse(const Condition& condition, const Metric& metric, const Replayed& r, double errors) {
  using Relation = Condition::Relation;
  const bool at_most =
      condition.relation == Relation::less || condition.relation == Relation::less_equal;
  const bool at_least =
      condition.relation == Relation::greater || condition.relation == Relation::greater_equal;
  const double by = errors * r.error(metric);
  return metric.value(r.estimate) + (at_most ? by : at_least ? -by : 0.0);
}

// Metrics beyond their tolerance: those that are sure, by kNear standard errors, or the others.
std::vector<Disagreement> far(const std::function<double(const Metric& metric)>& estimate_of,
                              const Replayed& replayed, bool sure) {
  std::vector<Disagreement> found;
  for (const CheckedMetric& compared : kChecked) {
    const Metric* metric = find_metric(compared.name);
    const double estimated = estimate_of(*metric);
    const double value = metric->value(replayed.estimate);
    const double error = replayed.error(*metric);
    const double off = std::abs(estimated - value);
    const bool beyond = replayed.done() && replayed.is_steady() && std::isfinite(value) &&
                        !(off <= compared.tolerance * value);
    if (beyond && sure != (off - kNear * error <= compared.tolerance * value)) {
      found.push_back({metric, value / estimated, error / value});
    }
  }
  return found;
}

}  // namespace

std::vector<Disagreement> disagreements(const ServingEstimate& closed_form,
                                        const Replayed& replayed) {
  return disagreements([&](const Metric& metric) { return metric.value(closed_form); }, replayed);
}

std::vector<Disagreement> disagreements(
    const std::function<double(const Metric& metric)>& estimate_of, const Replayed& replayed) {
  return far(estimate_of, replayed, true);
}

std::vector<Disagreement> undecided(const ServingEstimate& closed_form, const Replayed& replayed) {
  return far([&](const Metric& metric) { return metric.value(closed_form); }, replayed, false);
}

std::string_view name(Verdict verdict) {
  return verdict == Verdict::confirmed ? "confirmed"
         : verdict == Verdict::differs ? "differs"
         : verdict == Verdict::broken  ? "broken"
                                       : "estimated only";
}

bool holds_by(std::span<const Condition> conditions, const Replayed& replayed, double errors) {
  return replayed.estimate.fits() && replayed.is_steady() &&
         std::all_of(conditions.begin(), conditions.end(), [&](const Condition& condition) {
           const Metric* metric = find_metric(condition.metric);
           return metric == nullptr ||
                  holds(condition, worse(condition, *metric, replayed, errors));
         });
}

Judgement judge(std::span<const Condition> conditions, const Replayed& replayed, double errors) {
  if (!replayed.done()) {
    return {Verdict::estimated, replayed.why_not};
  }
  double widest = 0.0;
  std::string near;
  for (const Condition& condition : conditions) {
    const Metric* metric = find_metric(condition.metric);
    if (metric == nullptr) {
      continue;
    }
    const double value = metric->value(replayed.estimate);
    const double error = replayed.error(*metric);
    const bool is_near = error > 0.0 && std::abs(value - condition.bound) < kNear * error;
    if (!holds(condition, value)) {
      const double off = std::abs(value - condition.bound) / std::abs(condition.bound);
      return {Verdict::broken,
              fmt::format("{} is {:.4g} in the replay{}{}", condition.text, value,
                          std::isfinite(off) ? fmt::format(", {:.3g} % off", 100.0 * off) : "",
                          is_near ? ", within two standard errors of the bound" : "")};
    }
    if (!holds(condition, worse(condition, *metric, replayed, errors))) {
      return {Verdict::broken,
              fmt::format("{} is {:.4g} in the replay, not by {:g} standard errors", condition.text,
                          value, errors)};
    }
    widest = value != 0.0 ? std::max(widest, error / std::abs(value)) : widest;
    near =
        is_near ? fmt::format(", {} within two standard errors of its bound", metric->name) : near;
  }
  if (!replayed.is_steady()) {
    return {Verdict::estimated, replayed.not_steady()};
  }
  return {Verdict::confirmed,
          fmt::format("{} requests{}{}", replayed.requests,
                      widest > 0.0 ? fmt::format(", standard error {:.2g} %", 100.0 * widest) : "",
                      near)};
}

void add(const std::vector<Disagreement>& disagreements, Judgement& judgement) {
  for (const Disagreement& d : disagreements) {
    if (judgement.verdict == Verdict::confirmed && std::isfinite(d.ratio)) {
      judgement.note += fmt::format("{} {} is {:.3g}{}", judgement.far ? "," : "; but",
                                    d.metric->name, d.ratio, kFar);
      judgement.far = true;
    }
  }
}

void compare(const std::vector<const Metric*>& objectives, const Replayed& replayed,
             Judgement& judgement) {
  for (const Metric* metric : objectives) {
    const double value = is_simulated(*metric) ? metric->value(replayed.estimate) : NAN;
    const Interval90 interval = interval90(*metric, replayed.closed_form);
    const double slack = std::max(kNear * replayed.error(*metric), kSame * std::abs(value));
    if (judgement.verdict == Verdict::confirmed && std::isfinite(value) &&
        !holds(Interval90{interval.low - slack, interval.high + slack}, value)) {
      judgement.verdict = Verdict::differs;
      judgement.note =
          fmt::format("{} is {:.4g} in the replay, outside the interval of {:.4g} to {:.4g}; {}",
                      metric->name, value, interval.low, interval.high, judgement.note);
    }
  }
}

void add_metric(std::vector<const Metric*>& metrics, const Metric* metric) {
  if (metric != nullptr && std::find(metrics.begin(), metrics.end(), metric) == metrics.end()) {
    metrics.push_back(metric);
  }
}

std::vector<const Metric*> simulated_metrics(std::span<const Condition> conditions) {
  std::vector<const Metric*> metrics;
  for (const Condition& condition : conditions) {
    const Metric* metric = find_metric(condition.metric);
    add_metric(metrics, metric != nullptr && is_simulated(*metric) ? metric : nullptr);
  }
  return metrics;
}

}  // namespace roofcast::sim
