// SPDX-License-Identifier: Apache-2.0
//
// Work in a process of its own: a kernel that breaks the GPU's context, or hangs, takes nothing else with it.
#pragma once

#include <functional>
#include <string>

namespace roofcast::bench {

struct Ended {
  int status = 0;       // what the work returned; -1 when it did not
  std::string problem;  // empty, or how it ended instead
};

// Forks, so the caller must not have touched the GPU. The work is killed after `limit_s` seconds.
Ended run_apart(const std::function<int()>& work, double limit_s);

}  // namespace roofcast::bench
