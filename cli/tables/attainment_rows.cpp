// SPDX-License-Identifier: Apache-2.0
#include "cli/tables/attainment_rows.hpp"

#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace roofcast::cli {
namespace {

// Latency -> (throughput, row); both rise.
using Steps = std::map<double, std::pair<double, std::size_t>>;

void add(Steps& steps, double latency, double throughput, std::size_t row) {
  auto next = steps.upper_bound(latency);
  if (next != steps.begin() && std::prev(next)->second.first >= throughput) {
    return;
  }
  next = steps.lower_bound(latency);
  while (next != steps.end() && next->second.first <= throughput) {
    next = steps.erase(next);
  }
  steps.emplace_hint(next, latency, std::pair(throughput, row));
}

std::vector<const sim::ResultColumn*> latency_columns(const sim::ResultTable& table) {
  std::vector<const sim::ResultColumn*> columns;
  for (const sim::ResultColumn& column : table.columns()) {
    const sim::Metric* metric = column.metric();
    const bool upper_end =
        metric != nullptr && !metric->bounds.empty() && column.name().starts_with("high90_");
    if (metric != nullptr && metric->unit == "s" &&
        (upper_end || (metric->bounds.empty() && metric->better == sim::Better::lower))) {
      columns.push_back(&column);
    }
  }
  return columns;
}

}  // namespace

std::vector<std::size_t> attainment_rows(const sim::ResultTable& table, const std::string& series) {
  const sim::ResultColumn* throughput = table.find("throughput_tok_per_s_per_gpu");
  if (throughput == nullptr) {
    return {};
  }
  const bool any = table.find("meets") == nullptr;
  const sim::ResultColumn* series_column = table.find(series);
  const std::vector<const sim::ResultColumn*> latencies = latency_columns(table);
  std::map<std::string, std::vector<Steps>> by_series;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (std::isnan(throughput->number(row)) || !(any || table.meets(row))) {
      continue;
    }
    std::vector<Steps>& steps =
        by_series[series_column != nullptr ? series_column->cell(row) : std::string()];
    steps.resize(latencies.size());
    for (std::size_t i = 0; i < latencies.size(); ++i) {
      if (const double latency = latencies[i]->number(row); !std::isnan(latency)) {
        add(steps[i], latency, throughput->number(row), row);
      }
    }
  }
  std::set<std::size_t> rows;
  for (const auto& [value, curves] : by_series) {
    for (const Steps& steps : curves) {
      for (const auto& [latency, step] : steps) {
        rows.insert(step.second);
      }
    }
  }
  return {rows.begin(), rows.end()};
}

}  // namespace roofcast::cli
