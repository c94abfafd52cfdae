// SPDX-License-Identifier: Apache-2.0
//
// A table of inputs and the numbers they gave when last looked at: tests/golden/*.csv.
//
// A change of the model moves numbers. Moving them is allowed, unseen is not: the test says which
// row went from what to what, `scripts/regenerate-golden` writes the new ones, and the diff is the
// review.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/csv/csv.hpp"

namespace roofcast::golden {

// Numbers are written with seven significant digits, half a unit of the last is at most 5e-7.
inline constexpr double kTolerance = 1e-6;

// One row of the table: its inputs by column.
class Row {
 public:
  Row(const base::CsvTable& table, std::size_t row) : table_(table), row_(row) {}
  std::string_view operator[](std::string_view column) const {
    return table_.cell(row_, table_.column(column));
  }
  std::string_view cell(std::size_t column) const { return table_.cell(row_, column); }
  const std::vector<std::string>& columns() const { return table_.columns(); }

 private:
  const base::CsvTable& table_;
  std::size_t row_;
};

// What a column of results says for a row now, numbers in any precision.
using Evaluate = std::function<std::vector<std::string>(const Row& row)>;

// Compares the columns named in `results` with what `evaluate` gives, in their order; the others
// are inputs. Rewrites the file instead when ROOFCAST_REGENERATE is set.
void check_golden(const std::string& file, const std::vector<std::string>& results,
                  const Evaluate& evaluate);

// The columns of the file, to tell results from inputs by their names.
std::vector<std::string> golden_columns(const std::string& file);

// A number as `evaluate` returns it; empty for NaN.
std::string number(double value);

}  // namespace roofcast::golden
