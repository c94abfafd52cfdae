// SPDX-License-Identifier: Apache-2.0
#include "sim/result/metrics.hpp"

#include <algorithm>
#include <vector>

#include "base/document/renamed.hpp"
#include "base/no_number.hpp"

namespace roofcast::sim {
namespace {

using E = ServingEstimate;

constexpr TextMetric kTextMetrics[] = {
    {"bound_ttft", "TTFT bound", "what most of TTFT is made of",
     [](const E& e) { return e.workflow ? "" : name(e.steady.ttft_limit); }},
    {"bound_tpot", "TPOT bound", "what most of TPOT is made of",
     [](const E& e) { return e.steady.tpot.si() > 0.0 ? name(e.steady.tpot_limit) : ""; }},
    {"bound_throughput", "Throughput bound", "what stops more throughput at this load",
     [](const E& e) { return e.workflow ? "" : name(e.steady.throughput_limit); }},
    {"provenance", "Provenance",
     "where the efficiencies behind the row come from, or that figures of the chip are assumed",
     [](const E& e) { return hardware::name(e.provenance); }},
};

}  // namespace

std::string_view name(Better better) {
  return better == Better::lower ? "lower" : better == Better::higher ? "higher" : "";
}

std::span<const Metric> metrics() {
  static const std::vector<Metric> all = [] {
    std::vector<Metric> some(estimate_metrics().begin(), estimate_metrics().end());
    some.insert(some.end(), run_metrics().begin(), run_metrics().end());
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

Interval90 interval90(const Metric& metric, const ServingEstimate& estimate) {
  using base::kNoNumber;
  Interval90 interval{kNoNumber, kNoNumber};
  for (const Metric& bound : metrics()) {
    if (bound.bounds == metric.name) {
      (bound.name.starts_with("low") ? interval.low : interval.high) = bound.value(estimate);
    }
  }
  return interval;
}

std::span<const TextMetric> text_metrics() { return kTextMetrics; }

}  // namespace roofcast::sim
