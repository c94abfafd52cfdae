// SPDX-License-Identifier: Apache-2.0
//
// One document of a catalog, as the program holds it.
#pragma once

#include <string_view>

namespace roofcast::base {

struct CatalogEntry {
  std::string_view id;
  std::string_view file;  // path from the repository root, for messages
  std::string_view text;
};

}  // namespace roofcast::base
