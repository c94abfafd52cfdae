// SPDX-License-Identifier: Apache-2.0
//
// Ends a long computation from outside. Whoever begins one keeps a Cancellation on its thread; loops that may take long
// ask throw_if_cancelled() (some nanoseconds). base/threads.hpp hands it on to the threads that a computation begins.
#pragma once

#include <atomic>
#include <utility>

namespace roofcast::base {

// What a computation throws that was told to end. No error: its result is not wanted any more.
struct Cancelled {};

// While it lives, the computation of this thread ends once `*told` is true. Null: never.
class Cancellation {
 public:
  explicit Cancellation(const std::atomic<bool>* told) : outer_(std::exchange(told_, told)) {}
  ~Cancellation() { told_ = outer_; }
  Cancellation(const Cancellation&) = delete;
  Cancellation& operator=(const Cancellation&) = delete;

  static const std::atomic<bool>* of_this_thread() { return told_; }

 private:
  inline static thread_local const std::atomic<bool>* told_ = nullptr;
  const std::atomic<bool>* outer_;
};

inline void throw_if_cancelled() {
  const std::atomic<bool>* told = Cancellation::of_this_thread();
  if (told != nullptr && told->load(std::memory_order_relaxed)) {
    throw Cancelled{};
  }
}

}  // namespace roofcast::base
