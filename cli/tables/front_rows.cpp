// SPDX-License-Identifier: Apache-2.0
#include "cli/tables/front_rows.hpp"

#include <algorithm>
#include <cmath>

#include "sim/result/condition.hpp"

namespace roofcast::cli {

FrontReader::FrontReader(const FrontGoal& goal) : goal_(goal) {
  rows_.objectives = goal.objectives.size();
}

void FrontReader::add(base::CsvFile& file) {
  std::vector<std::size_t> columns;
  for (const std::string& name : goal_.objectives) {
    columns.push_back(file.column(name));
  }
  for (const sim::Condition& condition : goal_.where) {
    columns.push_back(file.column(condition.metric.empty() ? "fits" : condition.metric));
  }
  const auto meets = file.find_column("meets");
  if (meets) {
    columns.push_back(*meets);
  }
  for (const std::string& name : goal_.by) {
    columns.push_back(file.column(name));
  }
  file.read(columns,
            [&](std::span<const std::string_view> cells) { add(cells, meets.has_value()); });
}

void FrontReader::add(std::span<const std::string_view> cells, bool has_verdict) {
  bool counts = !has_verdict || cells[rows_.objectives + goal_.where.size()] == "true";
  for (std::size_t i = 0; i < goal_.where.size() && counts; ++i) {
    const std::string_view cell = cells[rows_.objectives + i];
    counts = goal_.where[i].metric.empty()
                 ? cell == "true"
                 : sim::holds(goal_.where[i], base::parse_number(cell).value_or(NAN));
  }
  const std::size_t start = rows_.values.size();
  for (std::size_t j = 0; j < rows_.objectives; ++j) {
    rows_.values.push_back(counts ? base::parse_number(cells[j]).value_or(NAN) : NAN);
  }
  const auto first = rows_.values.begin() + static_cast<std::ptrdiff_t>(start);
  rows_.competing +=
      std::none_of(first, rows_.values.end(), [](double v) { return std::isnan(v); }) ? 1 : 0;
  if (goal_.by.empty()) {
    return;
  }
  const auto own = cells.last(goal_.by.size());
  std::string name(own.front());
  for (const std::string_view cell : own.subspan(1)) {
    name.append(", ").append(cell);
  }
  auto id = ids_.find(name);
  if (id == ids_.end()) {
    id = ids_.emplace(name, static_cast<std::uint32_t>(ids_.size())).first;
    rows_.names.push_back(std::move(name));
  }
  rows_.groups.push_back(id->second);
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
