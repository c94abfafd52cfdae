// SPDX-License-Identifier: Apache-2.0
#include "base/document/harmless.hpp"

#include <algorithm>

#include "base/utf8.hpp"

namespace roofcast::base {

bool is_harmful(std::string_view character) {
  const auto c = static_cast<unsigned char>(character[0]);
  return c < 0x20 || c == 0x7f || (character >= "\u0080" && character <= "\u009f") ||
         (character >= "\u202a" && character <= "\u202e") ||
         (character >= "\u2066" && character <= "\u2069");
}

std::string harmless(std::string_view text, std::string_view kept) {
  const auto is_kept = [&](char c) { return kept.find(c) != std::string_view::npos; };
  const auto is_plain = [&](char c) { return (c >= 0x20 && c < 0x7f) || is_kept(c); };
  std::string result;
  while (!text.empty()) {
    const auto plain = static_cast<std::size_t>(
        std::find_if_not(text.begin(), text.end(), is_plain) - text.begin());
    result += text.substr(0, plain);
    text.remove_prefix(plain);
    if (!text.empty()) {
      const std::size_t size = std::max<std::size_t>(character_size(text), 1);
      const std::string_view character = text.substr(0, size);
      result += character_size(text) == 0 || is_harmful(character) ? "?" : character;
      text.remove_prefix(size);
    }
  }
  return result;
}

}  // namespace roofcast::base
