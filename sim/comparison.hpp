// SPDX-License-Identifier: Apache-2.0
//
// Comparisons of a number with a bound, of whatever has the name: a metric or a column.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/sweep.hpp"

namespace roofcast::sim {

// "fits" or "name relation number"; reports at `place`, of this key path.
std::optional<Condition> parse_comparison(const std::string& text, const base::Place& place,
                                          base::Problems& problems, std::string_view key);

// Not for "fits". False of NaN.
bool holds(const Condition& condition, double value);

}  // namespace roofcast::sim
