// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/document/node.hpp"

namespace roofcast::base {

// Equal in all that a reader sees: kind, text, items, keys and their order.
inline bool equal(const Node& a, const Node& b) {
  if (a.kind != b.kind || a.text != b.text || a.items.size() != b.items.size() ||
      a.entries.size() != b.entries.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    if (!equal(a.items[i], b.items[i])) {
      return false;
    }
  }
  for (std::size_t i = 0; i < a.entries.size(); ++i) {
    if (a.entries[i].key != b.entries[i].key || !equal(a.entries[i].value, b.entries[i].value)) {
      return false;
    }
  }
  return true;
}

}  // namespace roofcast::base
