// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "cli/program/usage.hpp"

namespace roofcast::cli {
namespace {

constexpr std::size_t kWidth = 80;      // of the terminal
constexpr std::size_t kNameWidth = 26;  // what is longer has its description on the next line

// Words in lines of the terminal's width, all but the first indented; `column` is where the first
// starts.
std::string wrapped(const std::string& text, std::size_t column) {
  std::string out;
  std::size_t at = column;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (at > column && at + 1 + word.size() > kWidth) {
      out += '\n' + std::string(column, ' ');
      at = column;
    } else if (at > column) {
      out += ' ';
      ++at;
    }
    out += word;
    at += word.size();
  }
  return out + '\n';
}

// Two columns below a heading, the second wrapped.
std::string block(std::string_view heading, const std::vector<Usage>& rows) {
  if (rows.empty()) {
    return {};
  }
  std::size_t width = 0;
  for (const Usage& row : rows) {
    width = row.name.size() > kNameWidth ? width : std::max(width, row.name.size());
  }
  std::string out = fmt::format("\n{}:\n", heading);
  for (const Usage& row : rows) {
    out += row.name.size() > width ? fmt::format("  {}\n{:{}}", row.name, "", width + 4)
                                   : fmt::format("  {:<{}}  ", row.name, width);
    out += wrapped(row.description, width + 4);
  }
  return out;
}

}  // namespace

std::string help(const CLI::App& command) {
  std::string out = fmt::format("{}\n\nUsage: {}\n", summary(command), synopsis(command));
  if (const std::string more = details(command); !more.empty()) {
    out += "\n" + wrapped(more, 0);
  }
  std::vector<Usage> rows;
  for (const CLI::App* each : subcommands(command)) {
    rows.push_back({name_of(*each), summary(*each)});
  }
  out += block("Commands", rows);
  rows.clear();
  for (const CLI::Option* each : arguments(command)) {
    rows.push_back(usage(*each));
  }
  out += block("Arguments", rows);
  for (const std::string& group : groups_of(command)) {
    rows.clear();
    for (const CLI::Option* each : options(command)) {
      if (group_of(*each) == group) {
        rows.push_back(usage(*each));
      }
    }
    out += block(group, rows);
  }
  const std::string footer = footer_of(command);
  return footer.empty() ? out : fmt::format("{}\n{}\n", out, footer);
}

}  // namespace roofcast::cli
