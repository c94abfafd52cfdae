// SPDX-License-Identifier: Apache-2.0
//
// Sections that a scenario need not have, nor fill, and what is meant then:
//   deployment   one replica on one GPU
//   serving      the usual stack, with its own settings. What trains need not serve.
#pragma once

#include "base/document/node.hpp"

namespace roofcast::sim {

inline constexpr const char* kUsualStack = "vllm";

// Writes them into a scenario's document, before its references are loaded.
void fill_usual_sections(base::Node& document);

}  // namespace roofcast::sim
