// SPDX-License-Identifier: Apache-2.0
#include "base/csv/shortest_number.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>

#include "base/decimal.hpp"

namespace roofcast::base {
namespace {

constexpr double kLeast = 1e-4;  // smaller numbers have exponents
constexpr double kMost = 1e15;   // integers up to here are exact

// A number that is no integer and has four digits at most, of which the first is not zero; nullptr for others. Two texts
// of so few digits never read as the same double, so the one that reads back equal is the shortest.
char* write_short(double value, char* to) {
  int places = 3 - first_place(value);
  if (places <= 0) {
    return nullptr;
  }
  const double scale = kPowersOfTen[static_cast<std::size_t>(places)];
  auto digits = static_cast<int>(value * scale + 0.5);
  if (digits / scale != value) {
    return nullptr;
  }
  for (; digits % 10 == 0; digits /= 10) {
    --places;
  }
  // From the last digit on: those behind the point, and then those before it.
  std::array<char, kLongestNumber> reversed;
  std::size_t count = 0;
  for (; places > 0; --places) {
    reversed[count++] = static_cast<char>('0' + digits % 10);
    digits /= 10;
  }
  reversed[count++] = '.';
  do {
    reversed[count++] = static_cast<char>('0' + digits % 10);
    digits /= 10;
  } while (digits > 0);
  return std::reverse_copy(reversed.data(), reversed.data() + count, to);
}

}  // namespace

char* write_shortest(double value, char* to) {
  if (value >= kLeast && value < kMost) {
    const auto whole = static_cast<std::int64_t>(value);
    if (static_cast<double>(whole) == value) {
      return std::to_chars(to, to + kLongestNumber, whole).ptr;
    }
    if (char* end = write_short(value, to)) {
      return end;
    }
  }
  return fmt::format_to(to, FMT_COMPILE("{}"), value);
}

}  // namespace roofcast::base
