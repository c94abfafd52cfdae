// SPDX-License-Identifier: Apache-2.0
//
// Scattered bits: the finaliser of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA
// 2014). It is one to one, and numbers that differ by one bit differ by half of all bits afterwards.
#pragma once

#include <cstdint>

namespace roofcast::base {

inline constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15ULL;  // 2^64 / φ, odd

constexpr std::uint64_t scatter(std::uint64_t x) {
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

// A seed of the n-th part of what `seed` draws. It is no function of seed ^ n or of seed + n, with which two seeds would
// share their parts in another order.
constexpr std::uint64_t seed_of_part(std::uint64_t seed, std::uint64_t n) {
  return scatter(scatter(seed + kGoldenRatio) ^ n);
}

}  // namespace roofcast::base
