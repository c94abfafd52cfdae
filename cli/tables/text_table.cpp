// SPDX-License-Identifier: Apache-2.0
#include "cli/tables/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units/unit_text.hpp"

namespace roofcast::cli {
namespace {

bool numeric(const std::string& cell) {
  return cell.find(" to ") == std::string::npos &&
         (cell == "-" || (cell[0] >= '0' && cell[0] <= '9') ||
          (cell.size() > 1 && (cell[0] == '-' || cell[0] == '+')));
}

// Three significant digits, thousands grouped.
std::string number(double value) {
  const double size = std::abs(value);
  if (size >= 999.5) {
    std::string digits = fmt::format("{:.0f}", value);
    for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > (value < 0.0 ? 1 : 0);
         at -= 3) {
      digits.insert(static_cast<std::size_t>(at), 1, ',');
    }
    return digits;
  }
  if (value == std::floor(value)) {
    return fmt::format("{:.0f}", value);
  }
  return fmt::format("{:.3g}", value);
}

}  // namespace

std::string TextTable::text() const {
  const std::size_t columns = rows_.front().size();
  std::vector<std::size_t> width(columns, 0);
  std::vector<bool> right(columns, rows_.size() > 1);
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      width[c] = std::max(width[c], rows_[r][c].size());
      right[c] = right[c] && (r == 0 || rows_[r][c].empty() || numeric(rows_[r][c]));
    }
  }
  std::string out;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t c = 0; c < columns; ++c) {
      line += right[c] ? fmt::format("{:>{}}  ", row[c], width[c])
                       : fmt::format("{:<{}}  ", row[c], width[c]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string display(double value, std::string_view unit) {
  if (std::isnan(value)) {
    return "-";
  }
  if (unit == "s") {
    return base::format_quantity(base::Seconds::from_si(value));
  }
  if (unit == "B") {
    return base::format_quantity(base::Bytes::from_si(value));
  }
  if (unit == "J") {
    return base::format_quantity(base::Joules::from_si(value));
  }
  if (unit == "FLOP/s") {
    return base::format_quantity(base::FlopsPerSecond::from_si(value));
  }
  return unit.empty() ? number(value) : fmt::format("{} {}", number(value), unit);
}

}  // namespace roofcast::cli
