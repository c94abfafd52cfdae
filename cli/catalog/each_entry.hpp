// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "base/document/catalog.hpp"

namespace roofcast::cli {

// Calls `use` with the id of each entry of a catalog. One of which it throws InputError is left out, with a note that says
// why: a broken file of the user hides no other entry.
void each_entry(const base::Catalog& catalog, const std::function<void(const std::string&)>& use);

}  // namespace roofcast::cli
