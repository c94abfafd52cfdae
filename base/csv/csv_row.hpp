// SPDX-License-Identifier: Apache-2.0
//
// One row of a table, for readers of rows, with the rules and messages of base/csv/csv.hpp.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace roofcast::base {

// Splits a row, line end included or not, in place: fills `starts` with the starts of its unquoted
// cells, each followed by one separator, and one past the last. `line` is where it stands.
void split_csv_row(std::string& row, const std::string& name, std::size_t line,
                   std::vector<std::size_t>& starts);

[[noreturn]] void refuse_csv_width(const std::string& name, std::size_t line, std::size_t cells,
                                   std::size_t width);

}  // namespace roofcast::base
