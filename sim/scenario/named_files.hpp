// SPDX-License-Identifier: Apache-2.0
//
// A scenario that is written to another folder must name its files so that they are found from there.
#pragma once

#include <string_view>

#include "base/document/node.hpp"

namespace roofcast::sim {

// Makes the paths of files absolute: of parts that come from the user's own files, of traces. `path` is where the node
// stands in the scenario; empty: it is the scenario.
void make_paths_absolute(base::Node& node, std::string_view path);

// Whether that changes anything.
bool has_relative_paths(const base::Node& node, std::string_view path);

}  // namespace roofcast::sim
