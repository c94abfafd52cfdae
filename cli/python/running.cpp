// SPDX-License-Identifier: Apache-2.0
#include "cli/python/running.hpp"

#include <pybind11/pybind11.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>
#include <set>
#include <stdexcept>
#include <thread>

#include "base/cancellation.hpp"

namespace py = pybind11;

namespace roofcast::cli::python {
namespace {

// It begins and ends with the interpreter's lock; between, it may be without.
class Running {
 public:
  Running() {
    if (interpreter_ends) {
      throw std::runtime_error("roofcast: the interpreter ends");
    }
    all.insert(this);
  }
  ~Running() { all.erase(this); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  std::atomic<bool> told{false};     // to end
  const pid_t process = ::getpid();  // a fork has those of its parent, of which none runs there

  // Behind the interpreter's lock.
  inline static std::set<Running*> all;
  inline static bool interpreter_ends = false;
};

}  // namespace

void compute(const std::function<void()>& work) {
  Running running;
  const py::gil_scoped_release unlocked;
  const base::Cancellation cancellation(&running.told);
  work();
}

void compute_beside(const std::function<void()>& work) {
  constexpr std::chrono::milliseconds kBetweenLooks{50};
  Running running;
  const py::gil_scoped_release unlocked;
  std::future<void> done = std::async(std::launch::async, [&] {
    const base::Cancellation cancellation(&running.told);
    work();
  });
  while (done.wait_for(kBetweenLooks) != std::future_status::ready) {
    const py::gil_scoped_acquire locked;
    if (PyErr_CheckSignals() != 0) {
      running.told = true;
      {
        const py::gil_scoped_release meanwhile;
        done.wait();
      }
      throw py::error_already_set();
    }
  }
  done.get();
}

void end_all() {
  constexpr std::chrono::milliseconds kBetweenLooks{5};
  Running::interpreter_ends = true;
  std::erase_if(Running::all, [](const Running* each) { return each->process != ::getpid(); });
  while (!Running::all.empty()) {
    for (Running* each : Running::all) {
      each->told = true;
    }
    const py::gil_scoped_release unlocked;
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

}  // namespace roofcast::cli::python
