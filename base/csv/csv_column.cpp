// SPDX-License-Identifier: Apache-2.0
#include "base/csv/csv_column.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/document/problems.hpp"
#include "base/nearest.hpp"

namespace roofcast::base {

std::int64_t CsvColumn::count(std::size_t row, std::int64_t least, std::int64_t most) const {
  const std::string_view cell = text(row);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size() || value < least || value > most) {
    fail(row, fmt::format("a whole number from {} to {} is expected", least, most));
  }
  return value;
}

void CsvColumn::fail(std::size_t row, std::string_view expected) const {
  throw InputError(fmt::format("{}:{}: error: {}: {}, not \"{}\"", table_.name(), row + 2,
                               table_.columns()[index_], expected, text(row)));
}

void refuse_other_columns(const CsvTable& table, const std::vector<std::string>& known) {
  for (const std::string& column : table.columns()) {
    if (std::find(known.begin(), known.end(), column) == known.end()) {
      const auto near = nearest_name(column, known);
      throw InputError(fmt::format(
          "{}:1: error: unknown column \"{}\"{} (allowed: {})", table.name(), column,
          near ? fmt::format("; did you mean \"{}\"?", *near) : "", fmt::join(known, ", ")));
    }
  }
}

}  // namespace roofcast::base
