// SPDX-License-Identifier: Apache-2.0
#include "base/document/harmless.hpp"

#include <algorithm>

#include "base/document/utf8.hpp"

namespace roofcast::base {

bool is_harmful(std::string_view character) {
  const auto c = static_cast<unsigned char>(character[0]);
  return c < 0x20 || c == 0x7f || (character >= "\u0080" && character <= "\u009f") ||
         (character >= "\u202a" && character <= "\u202e") ||
         (character >= "\u2066" && character <= "\u2069");
}

std::string harmless(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t size = std::max<std::size_t>(character_size(text), 1);
    const std::string_view character = text.substr(0, size);
    const bool bad = character_size(text) == 0 || (character != "\n" && is_harmful(character));
    result += bad ? "?" : character;
    text.remove_prefix(size);
  }
  return result;
}

}  // namespace roofcast::base
