// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace roofcast::bench {

// Seconds of a clock that only goes on.
inline double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace roofcast::bench
