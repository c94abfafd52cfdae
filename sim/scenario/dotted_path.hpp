// SPDX-License-Identifier: Apache-2.0
//
// Sets what a dotted path into a document leads to: the steps of a path, and values that multiply.
#pragma once

#include <string_view>
#include <vector>

#include "base/document/node.hpp"
#include "base/document/problems.hpp"

namespace roofcast::sim {

// What is done before a path goes through a node: it may stand for another document. False stops the path.
struct Through {
  bool (*load)(base::Node& document, std::string_view path, base::Problems& problems);
  bool (*fill)(base::Node& document, std::string_view path, base::Problems& problems);
};

bool is_factor(const base::Node& value);  // "x1.35", "x 0.5"

// As set_knob (sim/scenario/knob.hpp).
void set_at(base::Node& document, std::string_view path, const base::Place& path_place,
            const base::Node& value, const Through& through, base::Problems& problems);

// What a path that ends in ".*" multiplies: the numbers of a group, not a source that begins with a digit.
std::vector<const base::Entry*> numbers_of(const base::Node& group);

}  // namespace roofcast::sim
