// SPDX-License-Identifier: Apache-2.0
#include "cli/tables/metric_cells.hpp"

#include <cmath>

#include "cli/tables/text_table.hpp"
#include "sim/result/metrics.hpp"

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

std::string_view limit_of(const sim::ServingEstimate& estimate, std::string_view metric) {
  const std::string_view column = metric.starts_with("ttft")         ? "bound_ttft"
                                  : metric.starts_with("tpot")       ? "bound_tpot"
                                  : metric.starts_with("throughput") ? "bound_throughput"
                                                                     : "";
  for (const sim::TextMetric& text : sim::text_metrics()) {
    if (text.name == column && estimate.workflow == nullptr) {
      return text.value(estimate);
    }
  }
  return {};
}

std::string_view column_label(std::string_view column) {
  const sim::Metric* metric = sim::find_metric(column);
  return metric != nullptr ? metric->label : column;
}

std::string column_value(std::string_view column, double value) {
  const sim::Metric* metric = sim::find_metric(column);
  return display(value, metric != nullptr ? metric->unit : "");
}

}  // namespace roofcast::cli
