// SPDX-License-Identifier: Apache-2.0
#include "cli/metric_cells.hpp"

#include <cmath>

#include "sim/metrics.hpp"

namespace roofcast::cli {

void add_metric_columns(std::vector<std::string>& columns) {
  for (const sim::Metric& metric : sim::metrics()) {
    columns.emplace_back(metric.name);
  }
  for (const sim::TextMetric& text : sim::text_metrics()) {
    columns.emplace_back(text.name);
  }
}

void append_metrics(base::CsvWriter& csv, const sim::ServingEstimate& estimate) {
  for (const sim::Metric& metric : sim::metrics()) {
    csv.append(estimate.fits() ? metric.value(estimate) : NAN);
  }
  for (const sim::TextMetric& text : sim::text_metrics()) {
    csv.append(estimate.fits() ? text.value(estimate) : std::string_view());
  }
}

}  // namespace roofcast::cli
