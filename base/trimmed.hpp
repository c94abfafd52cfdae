// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string_view>

namespace roofcast::base {

// Without the blanks and tabs around it.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const auto from = std::min(text.find_first_not_of(kBlanks), text.size());
  return text.substr(from, text.find_last_not_of(kBlanks) + 1 - from);
}

}  // namespace roofcast::base
