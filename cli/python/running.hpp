// SPDX-License-Identifier: Apache-2.0
//
// How the module computes: without the interpreter's lock, until Ctrl-C or the interpreter's end.
#pragma once

#include <pybind11/pybind11.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>

#include "base/cancellation.hpp"

namespace roofcast::cli::python {

// A computation. It is made and ends with the interpreter's lock; between, it may be without. No new one begins once the
// interpreter ends: its thread could not take the lock again.
class Running {
 public:
  Running();
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  std::atomic<bool> told{false};     // to end
  const pid_t process = ::getpid();  // a fork has those of its parent, of which none runs there
};

// Tells all to end, and waits for them.
void end_all();

// What `work` returns, on this thread: for what takes milliseconds.
template <class Work>
auto computed(const Work& work) {
  Running running;
  const pybind11::gil_scoped_release unlocked;
  const base::Cancellation cancellation(&running.told);
  return work();
}

// The same for what may take long. Only the interpreter sees Ctrl-C, and it has to be asked; so another thread does the work.
template <class Work>
auto answered(const Work& work) {
  constexpr std::chrono::milliseconds kBetweenLooks{50};
  Running running;
  const pybind11::gil_scoped_release unlocked;
  auto result = std::async(std::launch::async, [&] {
    const base::Cancellation cancellation(&running.told);
    return work();
  });
  while (result.wait_for(kBetweenLooks) != std::future_status::ready) {
    const pybind11::gil_scoped_acquire locked;
    if (PyErr_CheckSignals() != 0) {
      running.told = true;
      {
        const pybind11::gil_scoped_release meanwhile;
        result.wait();
      }
      throw pybind11::error_already_set();
    }
  }
  return result.get();
}

}  // namespace roofcast::cli::python
