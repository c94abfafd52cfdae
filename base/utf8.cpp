// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.hpp"

namespace roofcast::base {

std::size_t character_size(std::string_view text) {
  const auto at = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned first = at(0);
  if (first < 0x80) {
    return text.empty() ? 0 : 1;
  }
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  for (std::size_t i = 1; i < size; ++i) {
    if ((at(i) & 0xc0u) != 0x80) {
      return 0;
    }
  }
  // Too long for their value, surrogates, and beyond U+10FFFF.
  const bool bad = first < 0xc2 || first > 0xf4 || (first == 0xe0 && at(1) < 0xa0) ||
                   (first == 0xed && at(1) > 0x9f) || (first == 0xf0 && at(1) < 0x90) ||
                   (first == 0xf4 && at(1) > 0x8f);
  return bad ? 0 : size;
}

}  // namespace roofcast::base
