// SPDX-License-Identifier: Apache-2.0
//
// The rows of a result CSV that compete for a Pareto front, by their objectives alone.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/csv/csv_file.hpp"
#include "sim/decide/pareto.hpp"
#include "sim/decide/sweep.hpp"

namespace roofcast::cli {

struct FrontGoal {
  std::vector<std::string> objectives;  // columns
  std::vector<sim::Direction> directions;
  std::vector<sim::Condition> where;  // on columns
  std::vector<std::string> by;        // a front for each combination of these columns; none: one
};

struct FrontRows {
  std::size_t objectives = 0;
  std::vector<double> values;  // row-major; NaN in every objective where a row does not compete
  std::vector<std::uint32_t> groups;  // empty without `by`
  std::vector<std::string> names;     // of the groups, as they come
  std::size_t competing = 0;

  std::size_t size() const { return values.size() / objectives; }
};

// A row competes when its cell `meets`, where the table has one, is true, every condition holds and
// it has every objective. A cell that is neither empty nor what its column asks for is a CsvError. Rows of several files of
// one table follow each other.
class FrontReader {
 public:
  explicit FrontReader(const FrontGoal& goal);  // outlives the reader
  void add(base::CsvFile& file);
  const FrontRows& rows() const { return rows_; }

 private:
  // `own`: its cells of `by`.
  void add(bool counts, std::span<const double> values, std::span<const std::string_view> own);

  const FrontGoal& goal_;
  FrontRows rows_;
  std::map<std::string, std::uint32_t, std::less<>> ids_;  // of groups
};

// The rows of rank 1, by growing number, and their values.
std::vector<std::size_t> front_of(const FrontRows& rows,
                                  const std::vector<sim::Direction>& directions);
std::vector<double> values_of(const FrontRows& rows, const std::vector<std::size_t>& chosen);

}  // namespace roofcast::cli
