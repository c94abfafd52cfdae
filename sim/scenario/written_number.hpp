// SPDX-License-Identifier: Apache-2.0
//
// Values of a knob as they are written: "x1.5", "3.5 /s", "64".
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace roofcast::sim {

struct WrittenNumber {
  std::string before;  // "x" of a factor
  double value = 0.0;
  std::string after;   // its unit
  bool whole = false;  // and without either
  bool ok = false;
};
WrittenNumber written_number(std::string_view text);

// Two values of a list that mean the same, as they are written: 064 is 64, and 2 TB/s is 2000 GB/s. Of `names`, such as
// versions, the same text alone does.
std::optional<std::pair<std::string, std::string>> same_twice(std::span<const std::string> values,
                                                              bool names);

}  // namespace roofcast::sim
