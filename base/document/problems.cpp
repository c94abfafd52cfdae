// SPDX-License-Identifier: Apache-2.0
#include "base/document/problems.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/document/harmless.hpp"
#include "base/utf8.hpp"

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

// Of a text as it is printed.
Problem without_place(const std::string& text) {
  constexpr std::string_view kBefore = "error: ";
  Problem problem;
  problem.text = text;
  problem.message = text.substr(text.starts_with(kBefore) ? kBefore.size() : 0);
  if (problem.message.ends_with('\n')) {
    problem.message.pop_back();
  }
  return problem;
}

}  // namespace

InputError::InputError(const std::string& text) : InputError(text, {without_place(text)}) {}

InputError::InputError(const std::string& text, std::vector<Problem> problems)
    : std::runtime_error(text),
      problems_(std::make_shared<const std::vector<Problem>>(std::move(problems))) {}

void Problems::add(const Place& place, std::string_view path, std::string_view message) {
  if (full()) {
    more_ = true;
    return;
  }
  Problem p;
  p.path = printable(path, kLongestPath).text;
  p.message = printable(message, kLongestMessage).text;
  if (place.source) {
    p.file = printable(place.source->name, kLongestPath).text;
    p.line = static_cast<std::size_t>(place.mark.line) + 1;
    p.column = column_of(place);
    p.excerpt = excerpt(place);
    p.text = fmt::format("{}:{}:{}: ", p.file, p.line, p.column);
  }
  p.text +=
      fmt::format("error: {}{}{}\n{}", p.path, p.path.empty() ? "" : ": ", p.message, p.excerpt);
  add(std::move(p));
}

void Problems::add(const InputError& error) {
  for (const Problem& problem : error.problems()) {
    add(problem);
  }
}

std::string Problems::text() const {
  std::string all;
  for (const Problem& problem : problems_) {
    all += problem.text;
  }
  return all + (more_ ? fmt::format("error: and more; these are the first {}\n", kMost) : "");
}

void Problems::throw_if_any() const {
  if (!empty()) {
    throw InputError(text(), problems_);
  }
}

void Problems::add_text(const std::string& text) { add(without_place(text)); }

void Problems::add(Problem problem) {
  if (full()) {
    more_ = true;
  } else if (std::none_of(problems_.begin(), problems_.end(),
                          [&](const Problem& other) { return other.text == problem.text; })) {
    problems_.push_back(std::move(problem));
  }
}

}  // namespace roofcast::base
