// SPDX-License-Identifier: Apache-2.0
//
// Text that a spreadsheet would compute. A writer puts an apostrophe before it, the spreadsheets' own sign for text, and a
// reader removes it: what is read is what was written.
#pragma once

#include <string_view>

namespace roofcast::base {

// Whether the text begins with =, +, -, @, a tab or a carriage return, behind any apostrophes, and is no number.
bool is_formula(std::string_view text);

}  // namespace roofcast::base
