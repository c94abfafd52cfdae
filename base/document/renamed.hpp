// SPDX-License-Identifier: Apache-2.0
//
// Keys, columns and options that have a new name. The old name is still read for one release, with a note.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/document/node.hpp"

namespace roofcast::base {

// The name before the change; empty where the name never changed.
std::string_view old_name(std::string_view name);
// The name after the change; `name` itself where it never changed.
std::string_view current_name(std::string_view name);

// Notes that an old name was used. There are many readers, and they return values, so the notes are kept here until the
// program prints them, once each. Any thread may call these functions.
void note_renamed(const Place& place, std::string_view old_name);
void note_renamed_column(std::string_view file, std::string_view old_name);
void note_renamed_option(std::string_view old_name, std::string_view name);
std::vector<std::string> take_notes();

}  // namespace roofcast::base
