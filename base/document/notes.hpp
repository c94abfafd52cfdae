// SPDX-License-Identifier: Apache-2.0
//
// What the user should know although nothing is wrong. There are many readers, and they return values, so the notes are
// kept here until the program prints them, once each. Any thread may call these functions.
#pragma once

#include <string>
#include <vector>

namespace roofcast::base {

void add_note(std::string note);
std::vector<std::string> take_notes();

}  // namespace roofcast::base
