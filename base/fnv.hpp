// SPDX-License-Identifier: Apache-2.0
//
// FNV-1a, 64 bits: the same on every machine and at compile time, unlike std::hash.
#pragma once

#include <cstdint>
#include <string_view>

namespace roofcast::base {

inline constexpr std::uint64_t kFnvStart = 14695981039346656037ULL;

constexpr std::uint64_t fnv(std::uint64_t hash, std::uint64_t value) {
  return (hash ^ value) * 1099511628211ULL;
}
constexpr std::uint64_t fnv(std::uint64_t hash, std::string_view text) {
  for (const char c : text) {
    hash = fnv(hash, static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
  }
  return hash;
}

}  // namespace roofcast::base
