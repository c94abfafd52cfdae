// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <thread>
#include <vector>

namespace roofcast::base {

// 0 means all cores.
inline unsigned thread_count(unsigned wanted) {
  return wanted != 0 ? wanted : std::max(1U, std::thread::hardware_concurrency());
}

// Calls work(0) … work(count - 1), each on a thread of its own, the first on the caller's; returns when all have.
template <class Work>
void on_threads(unsigned count, const Work& work) {
  std::vector<std::thread> others;
  for (unsigned i = 1; i < count; ++i) {
    others.emplace_back(work, i);
  }
  work(0U);
  for (std::thread& other : others) {
    other.join();
  }
}

}  // namespace roofcast::base
