// SPDX-License-Identifier: Apache-2.0
//
// How wide tables may be, and whether they may have colour: what every command's --columns and --color say, or else the
// terminal behind stdout.
#pragma once

#include <cstddef>
#include <limits>
#include <string_view>

namespace roofcast::cli {

struct Terminal {
  static constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();
  std::size_t width = kNoLimit;  // columns
  bool color = false;
};

// The styles of tables, and what ends them.
inline constexpr std::string_view kBold = "\x1b[1m";
inline constexpr std::string_view kBest = "\x1b[1;32m";
inline constexpr std::string_view kUnstyled = "\x1b[0m";

// Of this process: plain and without limit until use_terminal() is called.
const Terminal& terminal();

// `color`: always, never or auto. auto: a terminal, unless NO_COLOR has a value or TERM is dumb (no-color.org). `width`
// 0: that of the terminal; without one there is no limit.
void use_terminal(std::string_view color, std::size_t width);

}  // namespace roofcast::cli
