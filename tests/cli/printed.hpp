// SPDX-License-Identifier: Apache-2.0
//
// What the program prints, compared with what a page or a file says that it prints.
#pragma once

#include <string>

namespace roofcast::cli {

// Whether two texts are the same but for blanks, and for one unit in the last digit of a number: compilers round
// differently.
bool same_print(const std::string& expected, const std::string& printed);

}  // namespace roofcast::cli
