// SPDX-License-Identifier: Apache-2.0
#include "base/units/number_format.hpp"

namespace roofcast::base {

std::vector<std::pair<std::string, NumberFormat>> number_format_choices() {
  std::vector<std::pair<std::string, NumberFormat>> choices;
  for (int i = 0; i < kNumberFormats; ++i) {
    const auto format = static_cast<NumberFormat>(i);
    choices.emplace_back(name(format), format);
  }
  return choices;
}

}  // namespace roofcast::base
