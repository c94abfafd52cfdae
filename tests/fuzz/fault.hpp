// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace roofcast::fuzz {

// What a fuzzer's function does when a law does not hold: libFuzzer then keeps the input.
inline void require(bool holds, const std::string& law) {
  if (!holds) {
    std::fprintf(stderr, "fault: %s\n", law.c_str());
    std::abort();
  }
}

}  // namespace roofcast::fuzz
