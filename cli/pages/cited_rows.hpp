// SPDX-License-Identifier: Apache-2.0
//
// The rows of the CSV beside a page that the page names in [brackets].
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "cli/tables/text_table.hpp"

namespace roofcast::cli {

// The numbers in [brackets] of a text, and where each bracket begins and ends in it.
struct Citation {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t row = 0;
};
std::vector<Citation> citations(const std::string& text);

// Those rows of a CSV, their number first. Columns that are empty in all of them are left out; `columns`: only these are
// shown, and all where it is empty.
TextTable cited_rows(const std::filesystem::path& csv, const std::set<std::size_t>& rows,
                     const std::vector<std::string>& columns);

}  // namespace roofcast::cli
