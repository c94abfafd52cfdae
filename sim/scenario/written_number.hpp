// SPDX-License-Identifier: Apache-2.0
//
// A number as the value of a knob is written: "x1.5", "3.5 /s", "64".
#pragma once

#include <string>
#include <string_view>

namespace roofcast::sim {

struct WrittenNumber {
  std::string before;  // "x" of a factor
  double value = 0.0;
  std::string after;   // its unit
  bool whole = false;  // and without either
  bool ok = false;
};
WrittenNumber written_number(std::string_view text);

}  // namespace roofcast::sim
