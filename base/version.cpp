// SPDX-License-Identifier: Apache-2.0
#include "base/version.hpp"

#include <algorithm>
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

std::size_t nearest_version(const Version& version, std::span<const Version> newest_first) {
  const auto older = std::partition_point(newest_first.begin(), newest_first.end(),
                                          [&](const Version& v) { return v > version; });
  const auto index = static_cast<std::size_t>(older - newest_first.begin());
  if (index == 0 || index == newest_first.size()) {
    return index == 0 ? 0 : index - 1;
  }
  const auto distance = [&](const Version& v) {
    std::array<std::int64_t, 5> steps{};
    for (std::size_t i = 0; i < steps.size(); ++i) {
      steps[i] = std::abs(version.numbers[i] - v.numbers[i]);
    }
    return steps;
  };
  return distance(newest_first[index - 1]) < distance(newest_first[index]) ? index - 1 : index;
}

}  // namespace roofcast::base
