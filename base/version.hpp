// SPDX-License-Identifier: Apache-2.0
//
// Versions of software: 1.2, 0.24.0, 1.3.0rc15, 1.2.0rc6.post2.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace roofcast::base {

// Numbers that are left out are 0. A release comes after its candidates, and a post-release after both.
struct Version {
  static constexpr std::int64_t kRelease = 1'000'000;

  // Three numbers, the candidate (kRelease: it is none), the post-release.
  std::array<std::int64_t, 5> numbers{0, 0, 0, kRelease, 0};

  auto operator<=>(const Version&) const = default;
};

inline constexpr std::string_view kExpectsVersion =
    "expects a version such as 1.2, 0.24.0 or 1.3.0rc15";

// Nothing where the text is no such version.
std::optional<Version> parse_version(std::string_view text);

// The index of the nearest of some versions, newest first; there must be one. Between two of them the first number whose
// distances differ decides, so 1.2 is nearer to 1.2.0rc5 than to 1.3; where none does, the older one is taken.
std::size_t nearest_version(const Version& version, std::span<const Version> newest_first);

}  // namespace roofcast::base
