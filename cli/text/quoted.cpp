// SPDX-License-Identifier: Apache-2.0
#include "cli/text/quoted.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace roofcast::cli {
namespace {

bool is_letter_or_digit(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// In single quotes, each of which in the text becomes `quote`.
std::string quoted(std::string_view text, std::string_view quote) {
  std::string all = "'";
  for (const char c : text) {
    all += c == '\'' ? std::string(quote) : std::string(1, c);
  }
  return all + "'";
}

}  // namespace

std::string shell_word(std::string_view text) {
  constexpr std::string_view kUnquoted = "_-./=:,@%+";
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return is_letter_or_digit(c) || kUnquoted.find(c) != std::string_view::npos;
  });
  return plain ? std::string(text) : quoted(text, "'\\''");
}

std::string yaml_text(std::string_view text) { return quoted(text, "''"); }

std::string comment_line(std::string_view text) {
  // YAML 1.1 ends a line at the last three too.
  constexpr std::string_view kEnds[] = {"\n", "\r", "\u0085", "\u2028", "\u2029"};
  std::string line = "# ";
  while (!text.empty()) {
    const auto* const end = std::find_if(std::begin(kEnds), std::end(kEnds),
                                         [&](std::string_view e) { return text.starts_with(e); });
    line += end != std::end(kEnds) ? ' ' : text.front();
    text.remove_prefix(end != std::end(kEnds) ? end->size() : 1);
  }
  return line + "\n";
}

std::string kubernetes_name(std::string_view text, std::size_t longest) {
  std::string name;
  for (const char c : text) {
    if (is_letter_or_digit(c)) {
      name.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
    } else if (!name.empty() && name.back() != '-') {
      name.push_back('-');
    }
  }
  name.resize(std::min(name.size(), longest));
  while (!name.empty() && name.back() == '-') {
    name.pop_back();
  }
  return name;
}

}  // namespace roofcast::cli
