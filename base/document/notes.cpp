// SPDX-License-Identifier: Apache-2.0
#include "base/document/notes.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

namespace roofcast::base {
namespace {

std::mutex notes_mutex;
std::vector<std::string> notes;

}  // namespace

void add_note(std::string note) {
  const std::lock_guard lock(notes_mutex);
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) {
    notes.push_back(std::move(note));
  }
}

std::vector<std::string> take_notes() {
  const std::lock_guard lock(notes_mutex);
  return std::exchange(notes, {});
}

}  // namespace roofcast::base
