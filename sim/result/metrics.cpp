// SPDX-License-Identifier: Apache-2.0
#include "sim/result/metrics.hpp"

#include <algorithm>
#include <vector>

#include "base/document/renamed.hpp"
#include "base/no_number.hpp"
#include "sim/result/causes.hpp"

namespace roofcast::sim {
namespace {

using E = ServingEstimate;

// Of estimates whose causes were told.
std::string_view limit(const E& e, std::string_view metric) {
  return e.causes != nullptr ? limited(e, metric).by : std::string_view();
}

constexpr TextMetric kTextMetrics[] = {
    {"limited_by_ttft", "TTFT limited by", "what most of TTFT is for",
     [](const E& e) { return limit(e, "ttft"); }, true, Scope::serving},
    {"limited_by_tpot", "TPOT limited by", "what most of TPOT is for",
     [](const E& e) { return limit(e, "tpot"); }, true, Scope::serving},
    {"limited_by_throughput", "Throughput limited by", "what stops more throughput at this load",
     [](const E& e) { return limit(e, "throughput"); }, true, Scope::serving},
    {"limited_by_step", "Step limited by", "what most of an optimizer step is for",
     [](const E& e) { return limit(e, "step"); }, true, Scope::step},
    {"provenance", "Provenance",
     "where the efficiencies behind the row come from, or that figures of the chip are assumed",
     [](const E& e) { return hardware::name(e.provenance); }},
    {.name = "parent_figures",
     .label = "Figures of the chip before",
     .description = "prices and watts of a changed or replaced chip that nobody gave: those before",
     .value =
         [](const E& e) {
           return e.parent_figures != nullptr ? std::string_view(*e.parent_figures)
                                              : std::string_view();
         },
     .of_parents = true},
};

}  // namespace

std::string_view name(Better better) {
  return better == Better::lower ? "lower" : better == Better::higher ? "higher" : "";
}

std::span<const Metric> metrics() {
  static const std::vector<Metric> all = [] {
    std::vector<Metric> some(estimate_metrics().begin(), estimate_metrics().end());
    for (const auto& more : {task_metrics(), limit_metrics(), run_metrics()}) {
      some.insert(some.end(), more.begin(), more.end());
    }
    return some;
  }();
  return all;
}

const Metric* find_metric(std::string_view name) {
  name = base::current_name(name);
  const auto it = std::find_if(metrics().begin(), metrics().end(),
                               [&](const Metric& m) { return m.name == name; });
  return it == metrics().end() ? nullptr : &*it;
}

namespace {

Interval90 interval_of(const Metric& metric, const ServingEstimate& estimate,
                       double (*Metric::*bound_of)(const ServingEstimate&)) {
  using base::kNoNumber;
  Interval90 interval{kNoNumber, kNoNumber};
  for (const Metric& bound : metrics()) {
    if (bound.bounds == metric.name) {
      (bound.name.starts_with("low") ? interval.low : interval.high) = (bound.*bound_of)(estimate);
    }
  }
  return interval;
}

}  // namespace

Interval90 interval90(const Metric& metric, const ServingEstimate& estimate) {
  return interval_of(metric, estimate, &Metric::value);
}

Interval90 exact_interval90(const Metric& metric, const ServingEstimate& estimate) {
  return interval_of(metric, estimate, &Metric::exact);
}

std::span<const TextMetric> text_metrics() { return kTextMetrics; }

const TextMetric* find_text(std::string_view name) {
  name = base::current_name(name);
  const auto it = std::find_if(std::begin(kTextMetrics), std::end(kTextMetrics),
                               [&](const TextMetric& t) { return t.name == name; });
  return it == std::end(kTextMetrics) ? nullptr : &*it;
}

}  // namespace roofcast::sim
