// SPDX-License-Identifier: Apache-2.0
//
// The catalog entries that this process has read: what a result depends on beside its input files.
//
// An entry of the user that hides a built-in one of the same id is also noted (base/document/notes.hpp): a figure that
// differs from the shipped one must not go unseen.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace roofcast::base {

struct UsedEntry {
  std::string kind;  // "chips"
  std::string id;
  std::string origin;      // "built-in", or the path of the user's file
  bool hides = false;      // a built-in entry of the same id
  std::uint64_t hash = 0;  // of its text (base/fnv.hpp)
};

// Any thread may call these functions. An entry is kept once.
void note_used(std::string_view kind, const std::string& id, std::string_view origin, bool hides,
               std::string_view text);
std::vector<UsedEntry> used_entries();  // by kind and id

}  // namespace roofcast::base
