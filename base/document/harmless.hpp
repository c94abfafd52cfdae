// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace roofcast::base {

// Whether a character of UTF-8 may not reach a terminal: control characters (of ASCII and Latin-1), and those that reverse
// the direction of writing.
bool is_harmful(std::string_view character);

// The text with "?" in place of what is harmful and of what is no UTF-8, but for the control characters in `kept`.
std::string harmless(std::string_view text, std::string_view kept = "\n");

}  // namespace roofcast::base
