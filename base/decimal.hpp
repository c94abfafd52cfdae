// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace roofcast::base {

// The powers of ten that a double holds exactly.
inline constexpr std::array<double, 23> kPowersOfTen = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// The place of the first digit of a positive number, floor(log10); of one next to a power of ten it may be of that power.
inline int first_place(double value) {
  constexpr int kBias = 1023;
  const int binary = static_cast<int>(std::bit_cast<std::uint64_t>(value) >> 52U) - kBias;
  const int least = binary * 1233 >> 12;  // of the power of two below, by log10(2)
  const int next = least + 1;
  constexpr int kLast = static_cast<int>(kPowersOfTen.size()) - 1;
  if (next > kLast || next < -kLast) {
    return static_cast<int>(std::floor(std::log10(value)));
  }
  const bool reached = next >= 0 ? value >= kPowersOfTen[static_cast<std::size_t>(next)]
                                 : value * kPowersOfTen[static_cast<std::size_t>(-next)] >= 1.0;
  return reached ? next : least;
}

}  // namespace roofcast::base
