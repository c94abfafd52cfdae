// SPDX-License-Identifier: Apache-2.0
#include "cli/program/interrupt.hpp"

#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <iterator>

namespace roofcast::cli {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM};

volatile std::sig_atomic_t signal_that_came = 0;

void note(int signal) { signal_that_came = signal; }

}  // namespace

Interrupt::Interrupt() {
  signal_that_came = 0;
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    struct sigaction action {};
    action.sa_handler = note;
    action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
    sigaction(kSignals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) {  // as nohup wants it
      sigaction(kSignals[i], &action, nullptr);
    }
  }
}

Interrupt::~Interrupt() {
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], &before_[i], nullptr);
  }
}

int Interrupt::signal() const { return signal_that_came; }

void end_by(int signal) {
  std::fflush(nullptr);
  std::signal(signal, SIG_DFL);
  kill(getpid(), signal);
  std::_Exit(128 + signal);
}

}  // namespace roofcast::cli
