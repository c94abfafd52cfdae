// SPDX-License-Identifier: Apache-2.0
//
// What the sources of the interface share.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/document/node.hpp"
#include "base/document/problems.hpp"
#include "sim/interface/roofcast/scenario.hpp"

namespace roofcast {

struct Scenario::Document {
  base::Node node;  // references not yet loaded
};

// A mistake without a place.
[[noreturn]] inline void refuse(const std::string& message) {
  throw InputError("error: " + message + "\n", {{"", 0, 0, "", message, ""}});
}

// What `work` returns; the library's own error becomes the interface's.
template <class Work>
auto with_input_errors(const Work& work) {
  try {
    return work();
  } catch (const base::InputError& error) {
    std::vector<Problem> problems;
    for (const base::Problem& p : error.problems()) {
      problems.push_back({p.file, p.line, p.column, p.path, p.message, p.excerpt});
    }
    throw InputError(error.what(), std::move(problems));
  }
}

}  // namespace roofcast
