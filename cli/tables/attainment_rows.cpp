// SPDX-License-Identifier: Apache-2.0
#include "cli/tables/attainment_rows.hpp"

#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "sim/result/metrics.hpp"

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

std::vector<std::size_t> latency_columns(const base::CsvTable& table) {
  std::vector<std::size_t> columns;
  for (std::size_t c = 0; c < table.columns().size(); ++c) {
    const sim::Metric* metric = sim::find_metric(table.columns()[c]);
    const bool upper_end =
        metric != nullptr && !metric->bounds.empty() && table.columns()[c].starts_with("high90_");
    if (metric != nullptr && metric->unit == "s" &&
        (upper_end || (metric->bounds.empty() && metric->better == sim::Better::lower))) {
      columns.push_back(c);
    }
  }
  return columns;
}

}  // namespace

std::vector<std::size_t> attainment_rows(const base::CsvTable& table, const std::string& series) {
  const auto throughput_column = table.find_column("throughput_tok_per_s_per_gpu");
  const auto meets = table.find_column("meets");
  if (!throughput_column) {
    return {};
  }
  const auto series_column = table.find_column(series);
  const std::vector<std::size_t> latencies = latency_columns(table);
  std::map<std::string_view, std::vector<Steps>> by_series;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto throughput = base::parse_number(table.cell(row, *throughput_column));
    if (!throughput || (meets && table.cell(row, *meets) != "true")) {
      continue;
    }
    std::vector<Steps>& steps =
        by_series[series_column ? table.cell(row, *series_column) : std::string_view()];
    steps.resize(latencies.size());
    for (std::size_t i = 0; i < latencies.size(); ++i) {
      if (const auto latency = base::parse_number(table.cell(row, latencies[i]))) {
        add(steps[i], *latency, *throughput, row);
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
