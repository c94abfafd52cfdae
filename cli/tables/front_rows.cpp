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
  std::vector<double> values(rows_.objectives);
  file.read(columns, [&](std::span<const std::string_view> cells) {
    const auto number = [&](std::size_t i) { return file.number(cells[i], columns[i]); };
    const auto flag = [&](std::size_t i) {
      return file.flag(cells[i], columns[i]).value_or(false);
    };
    bool counts = !meets || flag(rows_.objectives + goal_.where.size());
    for (std::size_t i = 0; i < goal_.where.size(); ++i) {
      const std::size_t at = rows_.objectives + i;
      const bool holds =
          goal_.where[i].metric.empty() ? flag(at) : sim::holds(goal_.where[i], number(at));
      counts = counts && holds;
    }
    for (std::size_t j = 0; j < rows_.objectives; ++j) {
      values[j] = number(j);
    }
    add(counts, values, cells.last(goal_.by.size()));
  });
}

void FrontReader::add(bool counts, std::span<const double> values,
                      std::span<const std::string_view> own) {
  const std::size_t start = rows_.values.size();
  for (const double value : values) {
    rows_.values.push_back(counts ? value : NAN);
  }
  const auto first = rows_.values.begin() + static_cast<std::ptrdiff_t>(start);
  rows_.competing +=
      std::none_of(first, rows_.values.end(), [](double v) { return std::isnan(v); }) ? 1 : 0;
  if (goal_.by.empty()) {
    return;
  }
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
