// SPDX-License-Identifier: Apache-2.0
//
// One column of a table, with the messages for its wrong cells: "jobs.csv:3: error: memory: …, not "12 GX"".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/csv/csv.hpp"

namespace roofcast::base {

// The table outlives it. No cell of the table may hold a line end, so that a row is a line.
class CsvColumn {
 public:
  // Throws CsvError with the nearest name when there is no such column.
  CsvColumn(const CsvTable& table, std::string_view name)
      : table_(table), index_(table.column(name)) {}

  std::string_view text(std::size_t row) const { return table_.cell(row, index_); }
  std::int64_t count(std::size_t row, std::int64_t least, std::int64_t most) const;
  [[noreturn]] void fail(std::size_t row, std::string_view expected) const;

 private:
  const CsvTable& table_;
  std::size_t index_;
};

// Throws InputError, with the nearest name, if the table has a column that is not one of these.
void refuse_other_columns(const CsvTable& table, const std::vector<std::string>& known);

}  // namespace roofcast::base
