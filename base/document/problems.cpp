// SPDX-License-Identifier: Apache-2.0
#include "base/document/problems.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/document/harmless.hpp"
#include "base/document/utf8.hpp"

namespace roofcast::base {
namespace {

constexpr std::size_t kExcerptColumns = 160;
constexpr std::size_t kLongestPath = 200;
constexpr std::size_t kLongestMessage = 2000;

// The text as it may reach a terminal, one column a character, cut when long.
struct Printable {
  std::string text;
  std::size_t columns = 0;
};
Printable printable(std::string_view text, std::size_t longest) {
  Printable result;
  for (; !text.empty() && result.columns < longest; ++result.columns) {
    const std::size_t size = std::max<std::size_t>(character_size(text), 1);
    const std::string_view character = text.substr(0, size);
    const bool blank = character == "\t" || character == "\n" || character == "\r";
    const bool bad = character_size(text) == 0 || is_harmful(character);
    result.text += blank ? " " : bad ? "?" : character;
    text.remove_prefix(size);
  }
  result.text += text.empty() ? "" : "…";
  return result;
}

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

// The offending line with a caret under the column, without leading blanks; the far ends of very
// long lines are left out.
std::string excerpt(const Place& place) {
  const std::string_view line = line_of(place.source->text, place.mark.line);
  const std::size_t first = line.find_first_not_of(" \t");
  const auto column = static_cast<std::size_t>(place.mark.column);
  if (first == std::string_view::npos || column > line.size()) {
    return {};
  }
  std::size_t begin = std::min(first, column);
  const bool far = column - begin > kExcerptColumns - 20;
  if (far) {
    begin = column - kExcerptColumns / 2;
    while (begin < column && character_size(line.substr(begin)) == 0) {
      ++begin;  // not inside a character
    }
  }
  const std::size_t before = printable(line.substr(begin, column - begin), line.size()).columns;
  return fmt::format("  {}{}\n  {}^\n", far ? "…" : "",
                     printable(line.substr(begin), kExcerptColumns).text,
                     std::string(before + (far ? 1 : 0), ' '));
}

// 1-based, in characters, as editors count.
std::size_t column_of(const Place& place) {
  const std::string_view line = line_of(place.source->text, place.mark.line);
  const auto column = static_cast<std::size_t>(place.mark.column);
  return column > line.size() ? column + 1
                              : printable(line.substr(0, column), line.size()).columns + 1;
}

}  // namespace

void Problems::add(const Place& place, std::string_view path, std::string_view message) {
  if (full()) {
    more_ = true;
    return;
  }
  std::string text;
  if (place.source) {
    text = fmt::format("{}:{}:{}: ", printable(place.source->name, kLongestPath).text,
                       place.mark.line + 1, column_of(place));
  }
  text += fmt::format("error: {}{}{}\n", printable(path, kLongestPath).text,
                      path.empty() ? "" : ": ", printable(message, kLongestMessage).text);
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
  return all + (more_ ? fmt::format("error: and more; these are the first {}\n", kMost) : "");
}

void Problems::throw_if_any() const {
  if (!empty()) {
    throw InputError(text());
  }
}

void Problems::add_text(std::string text) {
  if (full()) {
    more_ = true;
  } else if (std::find(texts_.begin(), texts_.end(), text) == texts_.end()) {
    texts_.push_back(std::move(text));
  }
}

}  // namespace roofcast::base
