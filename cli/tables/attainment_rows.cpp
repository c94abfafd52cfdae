// SPDX-License-Identifier: Apache-2.0
#include "cli/tables/attainment_rows.hpp"

#include <cmath>
#include <iterator>
#include <set>
#include <utility>

namespace roofcast::cli {
namespace {

using Steps = AttainmentRows::Steps;

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

AttainmentRows::AttainmentRows(const sim::ResultTable& table) {
  if (const auto* throughput = table.find("throughput_tok_per_s_per_gpu"); throughput != nullptr) {
    columns_ = latency_columns(table);
    columns_.insert(columns_.begin(), throughput);
  }
}

void AttainmentRows::take(std::size_t row, const std::string& series,
                          std::span<const double> numbers) {
  if (numbers.empty() || std::isnan(numbers.front())) {
    return;
  }
  std::vector<Steps>& steps = by_series_[series];
  steps.resize(numbers.size() - 1);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (const double latency = numbers[i + 1]; !std::isnan(latency)) {
      add(steps[i], latency, numbers.front(), row);
    }
  }
}

std::vector<std::size_t> AttainmentRows::rows() const {
  std::set<std::size_t> rows;
  for (const auto& [value, curves] : by_series_) {
    for (const Steps& steps : curves) {
      for (const auto& [latency, step] : steps) {
        rows.insert(step.second);
      }
    }
  }
  return {rows.begin(), rows.end()};
}

std::vector<std::size_t> attainment_rows(const sim::ResultTable& table, const std::string& series) {
  AttainmentRows attained(table);
  if (attained.columns().empty()) {
    return {};
  }
  const bool any = table.find("meets") == nullptr;
  const sim::ResultColumn* series_column = table.find(series);
  std::vector<double> numbers;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (!any && !table.meets(row)) {
      continue;
    }
    numbers.clear();
    for (const sim::ResultColumn* column : attained.columns()) {
      numbers.push_back(column->number(row));
    }
    attained.take(row, series_column != nullptr ? series_column->cell(row) : "", numbers);
  }
  return attained.rows();
}

}  // namespace roofcast::cli
