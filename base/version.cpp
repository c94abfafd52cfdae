// SPDX-License-Identifier: Apache-2.0
#include "base/version.hpp"

#include <charconv>
#include <cstdlib>

namespace roofcast::base {
namespace {

// Takes "rc15" from the front of a text: its word and its number.
bool take(std::string_view& text, std::string_view word, std::int64_t& number) {
  if (!text.starts_with(word)) {
    return false;
  }
  const char* begin = text.data() + word.size();
  const char* end = text.data() + text.size();
  std::int64_t value = 0;
  const auto parsed = std::from_chars(begin, end, value);
  if (parsed.ec != std::errc() || value < 0 || value >= Version::kRelease) {
    return false;
  }
  number = value;
  text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
  return true;
}

}  // namespace

std::optional<Version> parse_version(std::string_view text) {
  Version v;
  auto& [major, minor, patch, candidate, post] = v.numbers;
  if (!take(text, "", major)) {
    return std::nullopt;
  }
  if (take(text, ".", minor)) {
    take(text, ".", patch);
  }
  take(text, "rc", candidate);
  take(text, ".post", post);
  return text.empty() ? std::optional(v) : std::nullopt;
}

bool is_nearer(const Version& version, const Version& a, const Version& b) {
  for (std::size_t i = 0; i < version.numbers.size(); ++i) {
    const std::int64_t to_a = std::abs(version.numbers[i] - a.numbers[i]);
    const std::int64_t to_b = std::abs(version.numbers[i] - b.numbers[i]);
    if (to_a != to_b) {
      return to_a < to_b;
    }
  }
  return false;
}

}  // namespace roofcast::base
