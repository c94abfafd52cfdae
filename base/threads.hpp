// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <exception>
#include <thread>
#include <vector>

#include "base/cancellation.hpp"

namespace roofcast::base {

// 0 means all cores.
inline unsigned thread_count(unsigned wanted) {
  return wanted != 0 ? wanted : std::max(1U, std::thread::hardware_concurrency());
}

// Calls work(0) … work(count - 1), each on a thread of its own, the first on the caller's; returns when all have
// ended. If any of them threw, throws what the first of them, in the order of their numbers, did.
template <class Work>
void on_threads(unsigned count, const Work& work) {
  std::vector<std::exception_ptr> failures(std::max(1U, count));
  const auto guarded = [&, told = Cancellation::of_this_thread()](unsigned i) {
    const Cancellation same(told);
    try {
      work(i);
    } catch (...) {
      failures[i] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;  // joined at the end of this block
    for (unsigned i = 1; i < count; ++i) {
      others.emplace_back(guarded, i);
    }
    guarded(0U);
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) {
      std::rethrow_exception(failure);
    }
  }
}

}  // namespace roofcast::base
