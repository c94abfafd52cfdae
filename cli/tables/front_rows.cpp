// SPDX-License-Identifier: Apache-2.0
#include "cli/tables/front_rows.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/result/condition.hpp"

namespace roofcast::cli {

FrontRows read_front_rows(base::CsvFile& file, const FrontGoal& goal) {
  FrontRows rows;
  rows.objectives = goal.objectives.size();
  std::vector<std::size_t> columns;
  for (const std::string& name : goal.objectives) {
    columns.push_back(file.column(name));
  }
  for (const sim::Condition& condition : goal.where) {
    columns.push_back(file.column(condition.metric.empty() ? "fits" : condition.metric));
  }
  const std::size_t verdict = columns.size();
  const auto meets = file.find_column("meets");
  if (meets) {
    columns.push_back(*meets);
  }
  for (const std::string& name : goal.by) {
    columns.push_back(file.column(name));
  }
  std::map<std::string, std::uint32_t, std::less<>> ids;
  file.read(columns, [&](std::span<const std::string_view> cells) {
    bool counts = !meets || cells[verdict] == "true";
    for (std::size_t i = 0; i < goal.where.size() && counts; ++i) {
      const std::string_view cell = cells[rows.objectives + i];
      counts = goal.where[i].metric.empty()
                   ? cell == "true"
                   : sim::holds(goal.where[i], base::parse_number(cell).value_or(NAN));
    }
    const std::size_t start = rows.values.size();
    for (std::size_t j = 0; j < rows.objectives; ++j) {
      rows.values.push_back(counts ? base::parse_number(cells[j]).value_or(NAN) : NAN);
    }
    const auto first = rows.values.begin() + static_cast<std::ptrdiff_t>(start);
    rows.competing +=
        std::none_of(first, rows.values.end(), [](double v) { return std::isnan(v); }) ? 1 : 0;
    if (!goal.by.empty()) {
      const auto own = cells.last(goal.by.size());
      std::string name(own.front());
      for (const std::string_view cell : own.subspan(1)) {
        name.append(", ").append(cell);
      }
      auto id = ids.find(name);
      if (id == ids.end()) {
        id = ids.emplace(name, static_cast<std::uint32_t>(ids.size())).first;
        rows.names.push_back(std::move(name));
      }
      rows.groups.push_back(id->second);
    }
  });
  return rows;
}

std::vector<std::size_t> front_of(const FrontRows& rows,
                                  const std::vector<sim::Direction>& directions) {
  const auto ranks =
      sim::pareto_rank(rows.values, directions, {.groups = rows.groups, .max_rank = 1});
  std::vector<std::size_t> front;
  for (std::size_t row = 0; row < ranks.size(); ++row) {
    if (ranks[row] == 1) {
      front.push_back(row);
    }
  }
  return front;
}

std::vector<double> values_of(const FrontRows& rows, const std::vector<std::size_t>& chosen) {
  std::vector<double> values;
  values.reserve(chosen.size() * rows.objectives);
  for (const std::size_t row : chosen) {
    const double* at = rows.values.data() + row * rows.objectives;
    values.insert(values.end(), at, at + rows.objectives);
  }
  return values;
}

}  // namespace roofcast::cli
