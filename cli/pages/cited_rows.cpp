// SPDX-License-Identifier: Apache-2.0
#include "cli/pages/cited_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/csv/csv_file.hpp"
#include "base/document/output_file.hpp"
#include "cli/tables/metric_cells.hpp"
#include "sim/result/metrics.hpp"

namespace roofcast::cli {

std::vector<Citation> citations(const std::string& text) {
  constexpr std::size_t kDigits = 9;
  std::vector<Citation> found;
  for (std::size_t open = text.find('['); open != std::string::npos;
       open = text.find('[', open + 1)) {
    std::size_t end = open + 1;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) {
      ++end;
    }
    const std::string digits = text.substr(open + 1, end - open - 1);
    if (!digits.empty() && digits.size() <= kDigits && end < text.size() && text[end] == ']') {
      found.push_back({open, end + 1, std::stoul(digits)});
    }
  }
  return found;
}

TextTable cited_rows(const std::filesystem::path& csv, const std::set<std::size_t>& rows,
                     const std::vector<std::string>& columns) {
  base::CsvFile file(base::lies_at(csv));
  std::size_t read = 0;
  file.read({0}, [&](std::span<const std::string_view> /*cells*/) { ++read; });
  std::vector<std::size_t> chosen;
  for (const std::size_t row : rows) {
    if (row >= 1 && row <= read) {
      chosen.push_back(row - 1);
    }
  }
  const base::CsvTable table = file.table(chosen);
  std::vector<std::size_t> kept;
  for (std::size_t c = 0; c < table.columns().size(); ++c) {
    bool empty = true;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      empty = empty && table.cell(i, c).empty();
    }
    const bool wanted = columns.empty() || std::find(columns.begin(), columns.end(),
                                                     table.columns()[c]) != columns.end();
    if (wanted && !empty) {
      kept.push_back(c);
    }
  }
  std::vector<std::string> header = {"row"};
  for (const std::size_t c : kept) {
    header.emplace_back(column_label(table.columns()[c]));
  }
  TextTable text(header);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    std::vector<std::string> cells = {fmt::format("{}", chosen[i] + 1)};
    for (const std::size_t c : kept) {
      const std::string column(table.columns()[c]);
      const auto number = base::parse_number(table.cell(i, c));
      cells.push_back(number && sim::find_metric(column) != nullptr
                          ? column_value(column, *number)
                          : std::string(table.cell(i, c)));
    }
    text.add(std::move(cells));
  }
  return text;
}

}  // namespace roofcast::cli
