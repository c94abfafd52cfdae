// SPDX-License-Identifier: Apache-2.0
#include "cli/compare/measured_metrics.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "base/no_number.hpp"
#include "cli/tables/text_table.hpp"
#include "cli/text/scenario_text.hpp"
#include "sim/result/metrics.hpp"

namespace roofcast::cli {
namespace {

using base::kNoNumber;

// Rates over all replicas err as one GPU's; times to the last token have an interval but no columns for it.
sim::Interval90 interval_of(const sim::Metric& metric, const sim::ServingEstimate& e) {
  const sim::Interval90 interval = sim::interval90(metric, e);
  const models::Spread* spread = metric.name == "throughput_tok_per_s" ? &e.spreads.rate
                                 : metric.name == "requests_per_s"     ? &e.spreads.rate
                                 : metric.name == "e2e_mean_s"         ? &e.spreads.end_to_end
                                                                       : nullptr;
  if (std::isfinite(interval.low) || spread == nullptr) {
    return interval;
  }
  const double value = metric.value(e);
  return {value * (1.0 - spread->below), value * (1.0 + spread->above)};
}

}  // namespace

void lay_beside(const std::vector<calibrate::MeasuredMetric>& log, const sim::ServingEstimate& e,
                MeasuredComparison& comparison) {
  comparison.columns = {"metric",          "measured", "forecast", "low90_forecast",
                        "high90_forecast", "ratio",    "inside"};
  TextTable table({"metric", "measured", "forecast", "90 % interval", "forecast / measured",
                   "measured inside"});
  for (const calibrate::MeasuredMetric& measured : log) {
    const sim::Metric& metric = *sim::find_metric(measured.name);
    const double forecast = e.fits() ? metric.value(e) : kNoNumber;
    const auto [low, high] =
        e.fits() ? interval_of(metric, e) : sim::Interval90{kNoNumber, kNoNumber};
    const std::string in = inside(measured.value, low, high);
    table.add({std::string(metric.label), display(measured.value, metric.unit),
               display(forecast, metric.unit),
               std::isfinite(low)
                   ? fmt::format("{} to {}", display(low, metric.unit), display(high, metric.unit))
                   : std::string(),
               ratio_text(forecast, measured.value), in});
    comparison.rows.push_back(
        {measured.name, measured.value, forecast, low, high, forecast / measured.value, in});
  }
  comparison.table = table.text();
}

}  // namespace roofcast::cli
