// SPDX-License-Identifier: Apache-2.0
//
// The text of a number times a factor: "3.35 TB/s" × 2 = "6.7 TB/s". The unit stays.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace roofcast::base {

// None where the text does not begin with a number.
std::optional<std::string> multiplied(std::string_view text, double factor);

}  // namespace roofcast::base
