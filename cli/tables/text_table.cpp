// SPDX-License-Identifier: Apache-2.0
#include "cli/tables/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/document/harmless.hpp"
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

constexpr std::size_t kGap = 2;           // blanks between columns
constexpr std::size_t kSentence = 40;     // characters of a column that may be wrapped
constexpr std::size_t kNarrowest = 24;    // of a column that is wrapped
constexpr std::size_t kIndent = 4;        // of what stands below a row
constexpr std::string_view kStar = " *";  // behind the best row where there is no colour

// Characters of UTF-8.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::string blanks(width - std::min(width, width_of(text)), ' ');
  return right ? blanks + text : text + blanks;
}

// Words in lines of this width; a longer word has a line of its own.
std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> lines(1);
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!lines.back().empty() && width_of(lines.back()) + 1 + width_of(word) > width) {
      lines.emplace_back();
    }
    lines.back() += (lines.back().empty() ? "" : " ") + word;
  }
  return lines;
}

// The cells of a row that have no column on the terminal, on lines of their own.
std::string below(const std::vector<std::string>& header, const std::vector<std::string>& row,
                  std::size_t from, std::size_t width) {
  std::vector<std::string> parts;
  for (std::size_t c = from; c < row.size(); ++c) {
    if (!row[c].empty()) {
      parts.push_back(
          base::harmless(fmt::format("{}{}{}", header[c], header[c].empty() ? "" : " ", row[c])));
    }
  }
  std::string out;
  if (!parts.empty()) {
    const std::size_t room = std::max(width, kIndent + kIndent) - kIndent;
    for (const std::string& line : wrapped(fmt::format("{}", fmt::join(parts, ", ")), room)) {
      out += std::string(kIndent, ' ') + line + '\n';
    }
  }
  return out;
}

}  // namespace

std::string TextTable::text(const Terminal& on) const {
  const std::size_t columns = rows_.front().size();
  std::vector<std::size_t> width(columns, 0);
  std::vector<bool> right(columns, rows_.size() > 1);
  const bool stars = marked_ && !on.color && on.width != Terminal::kNoLimit;
  std::size_t total = (columns > 0 ? kGap * (columns - 1) : 0) + (stars ? kStar.size() : 0);
  for (std::size_t c = 0; c < columns; ++c) {
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      width[c] = std::max(width[c], width_of(rows_[r][c]));
      right[c] = right[c] && (r == 0 || rows_[r][c].empty() || numeric(rows_[r][c]));
    }
    total += width[c];
  }
  std::size_t visible = columns;
  const auto can_shrink = [&](std::size_t c) {  // sentences; and the second of two, whatever it is
    return visible <= 2 || (!right[c] && width[c] > kSentence);
  };
  const auto least = [&] {
    const std::size_t last = visible - 1;
    return total - (can_shrink(last) ? width[last] - std::min(width[last], kNarrowest) : 0);
  };
  while (visible > 2 && least() > on.width) {
    total -= kGap + width[--visible];
  }
  const std::size_t others = visible > 0 ? total - width[visible - 1] : 0;
  if (total > on.width && visible > 0) {
    width[visible - 1] = std::max(kNarrowest, on.width - std::min(on.width, others));
  }
  std::string out;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const std::string_view style = !on.color ? "" : r == 0 ? kBold : r == marked_ ? kBest : "";
    std::string line;
    std::vector<std::string> last;  // lines of the last cell
    for (std::size_t c = 0; c < visible; ++c) {
      const std::string cell = base::harmless(rows_[r][c]);
      if (c + 1 == visible && width_of(cell) > width[c]) {
        last = wrapped(cell, width[c]);
      }
      line += std::string(c > 0 ? kGap : 0, ' ') +
              padded(last.empty() ? cell : last.front(), width[c], right[c]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    if (stars && r == marked_) {
      line += kStar;
    }
    for (std::size_t i = 1; i < last.size(); ++i) {
      line += '\n' + std::string(others, ' ') + last[i];
    }
    out += style.empty() || line.empty() ? line + "\n"
                                         : fmt::format("{}{}{}\n", style, line, kUnstyled);
    if (r > 0 && visible < columns) {
      out += below(rows_.front(), rows_[r], visible, on.width);
    }
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
