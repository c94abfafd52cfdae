// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace roofcast::base {

inline constexpr int kLongestNumber = 32;  // -2.2250738585072014e-308 has 24 characters

// Writes the shortest text that reads back equal, and returns its end. `to` has room for kLongestNumber.
char* write_shortest(double value, char* to);

}  // namespace roofcast::base
