// SPDX-License-Identifier: Apache-2.0
//
// Aligned text for people: tables, and metrics scaled to readable units.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace roofcast::cli {

class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header) : rows_{std::move(header)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  // Columns whose cells look like numbers are right-aligned.
  std::string text() const;
  const std::vector<std::vector<std::string>>& rows() const { return rows_; }  // the header first

 private:
  std::vector<std::vector<std::string>> rows_;
};

// A metric's value in its SI unit, scaled: "15.4 ms", "79.2 GB", "2,354 tok/s/GPU", "-" for NaN.
std::string display(double value, std::string_view unit);

}  // namespace roofcast::cli
