// SPDX-License-Identifier: Apache-2.0
#include "cli/tables/front_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/tables/text_table.hpp"
#include "sim/result/metrics.hpp"

namespace roofcast::cli {
namespace {

constexpr std::string_view kStatus[] = {"point", "fits", "meets", "pareto_rank", "reason"};
constexpr std::string_view kUsual[] = {"throughput_tok_per_s_per_gpu",
                                       "interactivity_tok_per_s_per_user", "ttft_p50_s",
                                       "cost_usd_per_mtok", "memory_b_per_gpu"};
constexpr std::string_view kBounds[] = {"bound_tpot"};

double value_of(const base::CsvTable& table, std::size_t row, std::size_t column) {
  return base::parse_number(table.cell(row, column)).value_or(std::nan(""));
}

}  // namespace

ColumnKind kind_of_column(std::string_view name) {
  const auto& texts = sim::text_metrics();
  if (sim::find_metric(name) != nullptr) {
    return ColumnKind::metric;
  }
  const bool status =
      std::find(std::begin(kStatus), std::end(kStatus), name) != std::end(kStatus) ||
      std::any_of(texts.begin(), texts.end(),
                  [&](const sim::TextMetric& t) { return t.name == name; });
  return status ? ColumnKind::status : ColumnKind::axis;
}

std::vector<std::size_t> spread(const base::CsvTable& table, std::vector<std::size_t> rows,
                                const std::string& column, std::size_t limit) {
  const std::size_t by = table.column(column);
  std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
    return value_of(table, a, by) > value_of(table, b, by);
  });
  if (rows.size() <= limit) {
    return rows;
  }
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < limit; ++i) {
    chosen.push_back(rows[i * (rows.size() - 1) / (limit - 1)]);
  }
  return chosen;
}

std::string front_table(const base::CsvTable& table, const std::vector<std::size_t>& rows,
                        const std::vector<std::string>& objectives, std::size_t limit) {
  std::vector<std::size_t> columns;
  std::vector<std::string> header;
  const auto add = [&](std::string_view name) {
    const auto column = table.find_column(name);
    if (column && std::find(columns.begin(), columns.end(), *column) == columns.end()) {
      columns.push_back(*column);
      const sim::Metric* metric = sim::find_metric(name);
      header.emplace_back(metric != nullptr ? metric->label : name.substr(name.rfind('.') + 1));
    }
  };
  for (const std::string& name : table.columns()) {
    if (kind_of_column(name) == ColumnKind::axis) {
      add(name);
    }
  }
  for (const std::string& name : objectives) {
    add(name);
  }
  const auto says_something = [&](std::string_view name) {  // of a step of training few do
    const auto column = table.find_column(name);
    return column && std::any_of(rows.begin(), rows.end(), [&](std::size_t row) {
             return !table.cell(row, *column).empty();
           });
  };
  for (const std::string_view name : kUsual) {
    if (says_something(name)) {
      add(name);
    }
  }
  for (const std::string_view name : kBounds) {
    if (says_something(name)) {
      add(name);
    }
  }
  TextTable text(header);
  for (const std::size_t row : spread(table, rows, objectives.front(), limit)) {
    std::vector<std::string> cells;
    for (const std::size_t column : columns) {
      const sim::Metric* metric = sim::find_metric(table.columns()[column]);
      cells.push_back(metric != nullptr ? display(value_of(table, row, column), metric->unit)
                                        : std::string(table.cell(row, column)));
    }
    text.add(std::move(cells));
  }
  return text.text();
}

std::string best_table(const base::CsvTable& table, const std::vector<std::string>& axes,
                       const std::vector<std::string>& objectives) {
  std::vector<const sim::Metric*> columns;
  for (const std::string& name : objectives) {
    columns.push_back(sim::find_metric(name));
  }
  if (const sim::Metric* cost = sim::find_metric("cost_usd_per_mtok");
      std::find(columns.begin(), columns.end(), cost) == columns.end()) {
    columns.push_back(cost);
  }
  std::vector<std::size_t> at_column;
  for (const sim::Metric* metric : columns) {
    at_column.push_back(table.column(metric->name));
  }
  std::vector<std::size_t> by;
  for (const std::string& axis : axes) {
    by.push_back(table.column(axis));
  }
  const std::size_t meets = table.column("meets");
  using Best = std::pair<std::vector<std::string>, std::vector<double>>;
  std::vector<Best> best;  // in the axes' order
  for (std::size_t row = 0; row < table.rows(); ++row) {
    std::vector<std::string> group;
    for (const std::size_t column : by) {
      group.emplace_back(table.cell(row, column));
    }
    auto at =
        std::find_if(best.begin(), best.end(), [&](const Best& b) { return b.first == group; });
    if (at == best.end()) {
      at = best.insert(at, {group, std::vector<double>(columns.size(), std::nan(""))});
    }
    for (std::size_t c = 0; c < columns.size() && table.cell(row, meets) == "true"; ++c) {
      const double candidate = value_of(table, row, at_column[c]);
      double& known = at->second[c];
      known = columns[c]->better == sim::Better::lower ? std::fmin(known, candidate)
                                                       : std::fmax(known, candidate);
    }
  }
  std::vector<std::string> header = axes;
  for (const sim::Metric* metric : columns) {
    header.push_back(fmt::format("{} {}", metric->better == sim::Better::lower ? "lowest" : "best",
                                 metric->label));
  }
  TextTable text(header);
  for (const auto& [group, values] : best) {
    std::vector<std::string> cells = group;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      cells.push_back(display(values[c], columns[c]->unit));
    }
    text.add(std::move(cells));
  }
  return text.text();
}

}  // namespace roofcast::cli
