// SPDX-License-Identifier: Apache-2.0
#include "base/units/multiplied.hpp"

#include <fmt/format.h>

#include <charconv>

namespace roofcast::base {

std::optional<std::string> multiplied(std::string_view text, double factor) {
  double value = 0.0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc()) {
    return std::nullopt;
  }
  return fmt::format("{:.15g}{}", value * factor, std::string_view(parsed.ptr, end));
}

}  // namespace roofcast::base
