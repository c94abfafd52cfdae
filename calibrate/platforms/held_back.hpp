// SPDX-License-Identifier: Apache-2.0
//
// Which shapes of a table only judge: a fifth of them, whole, drawn by a hash of the shape's text.
#pragma once

#include <cstdint>
#include <string_view>

namespace roofcast::calibrate {

// The same on every machine.
std::uint64_t draw_of(std::string_view shape);
inline bool held_back(std::uint64_t draw) { return draw % 5 == 0; }

}  // namespace roofcast::calibrate
