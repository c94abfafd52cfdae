// SPDX-License-Identifier: Apache-2.0
//
// Aligned text for people: tables, and metrics scaled to readable units.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/tables/terminal.hpp"

namespace roofcast::cli {

class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header) : rows_{std::move(header)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  void mark_last() { marked_ = rows_.size() - 1; }  // the row added last is the best one
  // Columns whose cells look like numbers are right-aligned. Where the table is wider than the terminal, the last column is
  // wrapped if it has sentences. Else columns go below each row, the last one first, until the table fits or two are left.
  // If two are still too wide, the second is wrapped. In colour the header is bold, and the best row bold and green. On a
  // terminal without colour a star stands behind the best row.
  std::string text(const Terminal& on = terminal()) const;
  const std::vector<std::vector<std::string>>& rows() const { return rows_; }  // the header first

 private:
  std::vector<std::vector<std::string>> rows_;
  std::optional<std::size_t> marked_;
};

// A metric's value in its SI unit, scaled: "15.4 ms", "79.2 GB", "2,354 tok/s/GPU", "-" for NaN.
std::string display(double value, std::string_view unit);

}  // namespace roofcast::cli
