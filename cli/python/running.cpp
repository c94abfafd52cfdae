// SPDX-License-Identifier: Apache-2.0
#include "cli/python/running.hpp"

#include <set>
#include <stdexcept>
#include <thread>

namespace roofcast::cli::python {
namespace {

// Behind the interpreter's lock.
std::set<Running*> all;
bool interpreter_ends = false;

}  // namespace

Running::Running() {
  if (interpreter_ends) {
    throw std::runtime_error("roofcast: the interpreter ends");
  }
  all.insert(this);
}

Running::~Running() { all.erase(this); }

void end_all() {
  constexpr std::chrono::milliseconds kBetweenLooks{5};
  interpreter_ends = true;
  std::erase_if(all, [](const Running* each) { return each->process != ::getpid(); });
  while (!all.empty()) {
    for (Running* each : all) {
      each->told = true;
    }
    const pybind11::gil_scoped_release unlocked;
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

}  // namespace roofcast::cli::python
