// SPDX-License-Identifier: Apache-2.0
//
// How the module computes whatever takes long: without the interpreter's lock, and until Ctrl-C.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <chrono>
#include <future>

#include "base/cancellation.hpp"

namespace roofcast::cli::python {

// What `work` returns. Only the interpreter sees Ctrl-C, and it has to be asked; so another thread does the work.
template <class Work>
auto answered(const Work& work) {
  constexpr std::chrono::milliseconds kBetweenLooks{50};
  const pybind11::gil_scoped_release unlocked;
  std::atomic<bool> told{false};
  auto result = std::async(std::launch::async, [&] {
    const base::Cancellation cancellation(&told);
    return work();
  });
  while (result.wait_for(kBetweenLooks) != std::future_status::ready) {
    const pybind11::gil_scoped_acquire locked;
    if (PyErr_CheckSignals() != 0) {
      told = true;
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
