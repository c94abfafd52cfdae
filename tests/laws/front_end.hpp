// SPDX-License-Identifier: Apache-2.0
//
// For laws of the engine: requests reach it, and tokens are seen, without the front end's work in between.
#pragma once

#include "workloads/serving.hpp"

namespace roofcast::laws {

inline void without_front_end(workloads::Stack& stack) {
  stack.intake_overhead = {};
  stack.token_overhead = {};
  stack.message_overhead = {};
}

}  // namespace roofcast::laws
