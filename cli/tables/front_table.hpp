// SPDX-License-Identifier: Apache-2.0
//
// The Pareto front of a result as a table for people.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/decide/result_table.hpp"
#include "sim/decide/sweep_points.hpp"

namespace roofcast::cli {

// What a column of a result is.
enum class ColumnKind { axis, metric, status };
// Whether what the rows are of serves prompts: not where one of them trains without generating.
bool serves_prompts(const sim::ResultTable& table);

// "the Pareto front", or "the fronts of 7 groups (system, paid)": the groups that have one.
std::string fronts_text(const sim::SweepPoints& points, const sim::ResultTable& table);

ColumnKind kind_of_column(std::string_view name);

// Axes, the objectives and the usual metrics of the rows given, those best in the first objective first, the best one
// marked; at most `limit` of them, evenly chosen along the front.
std::string front_table(const sim::ResultTable& table, const std::vector<std::size_t>& rows,
                        const std::vector<std::string>& objectives, std::size_t limit);

// The rows as an array of objects: every column that is not empty, metrics as numbers.
nlohmann::ordered_json front_json(const sim::ResultTable& table,
                                  const std::vector<std::size_t>& rows);

// For each combination of the axes' values the best its rows reach in every objective and in cost, each at a
// configuration of its own; only rows that meet the constraints count.
std::string best_table(const sim::ResultTable& table, const std::vector<std::string>& axes,
                       const std::vector<std::string>& objectives);

// At most `limit` of the rows, spread evenly over the order of a numeric column, both ends kept: the lowest first where the
// column is a metric that is better when lower, else the highest.
std::vector<std::size_t> spread(const sim::ResultTable& table, std::vector<std::size_t> rows,
                                const std::string& column, std::size_t limit);

}  // namespace roofcast::cli
