// SPDX-License-Identifier: Apache-2.0
#include "base/problems.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace roofcast::base {
namespace {

constexpr std::size_t kExcerptColumns = 160;

std::string_view line_of(std::string_view text, int line) {
  for (; line > 0; --line) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) {
      return {};
    }
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  return text.ends_with('\r') ? text.substr(0, text.size() - 1) : text;
}

// The offending line with a caret under the column, without leading blanks; control characters and
// the far end of very long lines are left out.
std::string excerpt(const Place& place) {
  std::string line(line_of(place.source->text, place.mark.line));
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  const std::size_t first = std::min(line.find_first_not_of(' '), line.size());
  auto column = static_cast<std::size_t>(place.mark.column);
  if (first == line.size() || column > line.size()) {
    return {};
  }
  std::size_t begin = std::min(first, column);
  if (column - begin > kExcerptColumns - 20) {
    begin = column - kExcerptColumns / 2;
  }
  return fmt::format("  {}\n  {}^\n", line.substr(begin, kExcerptColumns),
                     std::string(column - begin, ' '));
}

}  // namespace

void Problems::add(const Place& place, std::string_view path, std::string_view message) {
  const std::string where = place.source ? fmt::format("{}:{}:{}: ", place.source->name,
                                                       place.mark.line + 1, place.mark.column + 1)
                                         : std::string();
  std::string text =
      fmt::format("{}error: {}{}{}\n", where, path, path.empty() ? "" : ": ", message);
  if (place.source) {
    text += excerpt(place);
  }
  add_text(std::move(text));
}

std::string Problems::text() const {
  std::string all;
  for (const std::string& text : texts_) {
    all += text;
  }
  return all;
}

void Problems::throw_if_any() const {
  if (!empty()) {
    throw InputError(text());
  }
}

void Problems::add_text(std::string text) {
  if (std::find(texts_.begin(), texts_.end(), text) == texts_.end()) {
    texts_.push_back(std::move(text));
  }
}

}  // namespace roofcast::base
