// SPDX-License-Identifier: Apache-2.0
//
// Whole numbers in formulas.
#pragma once

#include <cstdint>

namespace roofcast::base {

constexpr double as_double(std::int64_t value) { return static_cast<double>(value); }

// ⌈a/b⌉ for a ≥ 0 and b > 0.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace roofcast::base
