// SPDX-License-Identifier: Apache-2.0
#include "cli/tables/report_rows.hpp"

#include <algorithm>
#include <array>

#include "cli/tables/attainment_rows.hpp"
#include "cli/tables/front_table.hpp"

namespace roofcast::cli {
namespace {

constexpr std::size_t kMaxRows = 20'000;         // what a browser sorts and draws without a wait
constexpr std::size_t kMaxRowBytes = 7'000'000;  // of a page under 10 MB
constexpr std::size_t kSample = 1'000;

// How many rows a page should hold: a cell takes its text, and quotes and a comma or `null`.
std::size_t most_rows(const sim::ResultTable& table) {
  const std::vector<std::size_t> sample = sampled_rows(table);
  std::size_t bytes = 0;
  for (const std::size_t row : sample) {
    for (const sim::ResultColumn& column : table.columns()) {
      bytes += column.cell(row).size() + 3;
    }
  }
  return bytes == 0 ? kMaxRows : std::min(kMaxRows, kMaxRowBytes * sample.size() / bytes);
}

}  // namespace

std::vector<std::size_t> sampled_rows(const sim::ResultTable& table) {
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < table.rows(); row += table.rows() / kSample + 1) {
    rows.push_back(row);
  }
  return rows;
}

std::string series_of(const sim::ResultTable& table, const ShownColumns& columns) {
  if (table.find("system") != nullptr) {
    return "system";
  }
  const auto axis = std::find_if(columns.begin(), columns.end(), [](const auto* column) {
    return kind_of_column(column->name()) == ColumnKind::axis;
  });
  return axis == columns.end() ? "" : (*axis)->name();
}

std::vector<std::size_t> rows_to_show(const sim::ResultTable& table, const std::string& series,
                                      const std::set<std::size_t>& kept) {
  const std::size_t most = most_rows(table);
  std::vector<bool> attains(table.rows());
  if (table.rows() > most) {
    for (const std::size_t row : attainment_rows(table, series)) {
      attains[row] = true;
    }
  }
  const auto class_of = [&](std::size_t row) {
    return table.is_on_front(row) || kept.contains(row) ? 0U
           : attains[row]                               ? 1U
           : table.meets(row)                           ? 2U
                                                        : 3U;
  };
  struct Class {
    std::size_t rows = 0;
    std::size_t most = 0;  // of them on the page, evenly
    std::size_t seen = 0;
    std::size_t chosen = 0;
  };
  std::array<Class, 4> classes;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    ++classes.at(class_of(row)).rows;
  }
  std::size_t left = most;
  for (Class& each : classes) {
    each.most = std::min(left, each.rows);
    left -= each.most;
  }
  std::vector<std::size_t> chosen;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    Class& own = classes.at(class_of(row));
    if (own.chosen < own.most && own.seen == own.chosen * own.rows / own.most) {
      chosen.push_back(row);
      ++own.chosen;
    }
    ++own.seen;
  }
  return chosen;
}

}  // namespace roofcast::cli
