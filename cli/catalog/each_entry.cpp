// SPDX-License-Identifier: Apache-2.0
#include "cli/catalog/each_entry.hpp"

#include <fmt/format.h>

#include "base/document/notes.hpp"
#include "base/document/problems.hpp"

namespace roofcast::cli {

void each_entry(const base::Catalog& catalog, const std::function<void(const std::string&)>& use) {
  for (const std::string& id : base::catalog_ids(catalog)) {
    try {
      use(id);
    } catch (const base::InputError& error) {
      base::add_note(fmt::format("note: the {} {} is left out, it cannot be read:\n{}",
                                 catalog.singular, id, error.what()));
    }
  }
}

}  // namespace roofcast::cli
