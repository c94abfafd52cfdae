// SPDX-License-Identifier: Apache-2.0
#include "cli/tables/say.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

#include "base/document/harmless.hpp"
#include "cli/tables/terminal.hpp"

namespace roofcast::cli {
namespace {

// How long the style of a table is that the text begins with; 0 where it begins with none.
std::size_t style_size(std::string_view text) {
  for (const std::string_view style : {kBold, kBest, kUnstyled}) {
    if (text.starts_with(style)) {
      return style.size();
    }
  }
  return 0;
}

constexpr std::string_view kKept = "\n\t";

}  // namespace

void say_text(std::string_view text) {
  std::string said;
  while (!text.empty()) {
    const std::size_t style = terminal().color ? style_size(text) : 0;
    said += text.substr(0, style);
    text.remove_prefix(style);
    const std::size_t next = std::min(text.find('\x1b', style > 0 ? 0 : 1), text.size());
    said += base::harmless(text.substr(0, next), kKept);
    text.remove_prefix(next);
  }
  std::fwrite(said.data(), 1, said.size(), stdout);
}

void tell_text(std::string_view text) {
  const std::string said = base::harmless(text, kKept);
  std::fwrite(said.data(), 1, said.size(), stderr);
}

}  // namespace roofcast::cli
