// SPDX-License-Identifier: Apache-2.0
#include "base/document/used_entries.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <utility>

#include "base/document/notes.hpp"
#include "base/fnv.hpp"

namespace roofcast::base {
namespace {

std::mutex used_mutex;
std::map<std::pair<std::string, std::string>, UsedEntry> used;

}  // namespace

void note_used(std::string_view kind, const std::string& id, std::string_view origin, bool hides,
               std::string_view text) {
  {
    const std::lock_guard lock(used_mutex);
    const auto [at, fresh] = used.try_emplace({std::string(kind), id});
    if (!fresh) {
      return;
    }
    at->second = {std::string(kind), id, std::string(origin), hides, fnv(kFnvStart, text)};
  }
  if (hides) {
    add_note(fmt::format("note: {} is used for \"{}\" in place of the built-in entry", origin, id));
  }
}

std::vector<UsedEntry> used_entries() {
  const std::lock_guard lock(used_mutex);
  std::vector<UsedEntry> all;
  for (const auto& [key, entry] : used) {
    all.push_back(entry);
  }
  return all;
}

}  // namespace roofcast::base
