// SPDX-License-Identifier: Apache-2.0
#include "sim/interface/roofcast/estimate.hpp"

#include <cmath>
#include <limits>

#include "sim/estimate.hpp"
#include "sim/interface/document.hpp"
#include "sim/result/causes.hpp"
#include "sim/result/condition.hpp"
#include "sim/result/metrics.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/scenario/sections.hpp"

namespace roofcast {
namespace {

Better better_of(const sim::Metric& metric) {
  switch (metric.better) {
    case sim::Better::higher:
      return Better::higher;
    case sim::Better::lower:
      return Better::lower;
    case sim::Better::none:
      break;
  }
  return Better::none;
}

// The metrics but for the bounds of intervals.
std::vector<const sim::Metric*> numbers() {
  std::vector<const sim::Metric*> all;
  for (const sim::Metric& metric : sim::metrics()) {
    if (metric.bounds.empty()) {
      all.push_back(&metric);
    }
  }
  return all;
}

}  // namespace

std::span<const Metric> metrics() {
  static const std::vector<Metric> all = [] {
    std::vector<Metric> made;
    for (const sim::Metric* metric : numbers()) {
      made.push_back(
          {metric->name, metric->label, metric->unit, metric->description, better_of(*metric)});
    }
    return made;
  }();
  return all;
}

const Metric& metric(std::string_view name) {
  for (const Metric& metric : metrics()) {
    if (metric.name == name) {
      return metric;
    }
  }
  refuse(sim::unknown_metric(std::string(name)));
}

Number Estimate::operator[](std::string_view name) const {
  const Metric& known = metric(name);
  if (!runs()) {
    return {std::numeric_limits<double>::quiet_NaN(), known.unit, std::nullopt};
  }
  const auto index = static_cast<std::size_t>(&known - metrics().data());
  const Interval& interval = intervals_[index];
  return {values_[index], known.unit,
          std::isnan(interval.low) ? std::nullopt : std::optional(interval)};
}

Estimate estimate(const Scenario& scenario) {
  return with_input_errors([&] {
    const sim::Scenario read = sim::read_scenario(scenario.document().node);
    sim::Workspace workspace;
    sim::ServingEstimate e = sim::estimate(sim::view(read), workspace);
    sim::tell_causes(sim::view(read), e);
    Estimate estimate;
    estimate.reason_ = sim::reason(e);
    if (estimate.runs()) {
      for (const sim::Metric* metric : numbers()) {
        const auto [low, high] = sim::interval90(*metric, e);
        estimate.values_.push_back(metric->value(e));
        estimate.intervals_.push_back({low, high});
      }
    }
    return estimate;
  });
}

}  // namespace roofcast
