// SPDX-License-Identifier: Apache-2.0
//
// Keys, columns and options that have a new name. The old name is still read for one release, with a note.
#pragma once

#include <string>
#include <string_view>

#include "base/document/node.hpp"

namespace roofcast::base {

// The name before the change; empty where the name never changed.
std::string_view old_name(std::string_view name);
// The name after the change; `name` itself where it never changed.
std::string_view current_name(std::string_view name);

// Notes that an old name was used (base/document/notes.hpp).
void note_renamed(const Place& place, std::string_view old_name);
// The name after the change, with that note where it is another.
std::string noted_name(const Place& place, std::string_view name);
void note_renamed_column(std::string_view file, std::string_view old_name);
void note_renamed_option(std::string_view old_name, std::string_view name);

}  // namespace roofcast::base
