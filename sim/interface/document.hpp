// SPDX-License-Identifier: Apache-2.0
//
// What the sources of the interface share.
#pragma once

#include <utility>

#include "base/document/node.hpp"
#include "base/document/problems.hpp"
#include "sim/interface/roofcast/scenario.hpp"

namespace roofcast {

struct Scenario::Document {
  base::Node node;  // references not yet loaded
};

// What `work` returns; the library's own error becomes the interface's.
template <class Work>
auto with_input_errors(const Work& work) {
  try {
    return work();
  } catch (const base::InputError& error) {
    throw InputError(error.what());
  }
}

}  // namespace roofcast
