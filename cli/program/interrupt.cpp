// SPDX-License-Identifier: Apache-2.0
#include "cli/program/interrupt.hpp"

#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "base/document/output_file.hpp"

namespace roofcast::cli {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM};

volatile std::sig_atomic_t signal_that_came = 0;

std::atomic<const char*> last_words{nullptr};

void end_at_once(int signal) {
  base::remove_unfinished();
  if (const char* text = last_words.load(); text != nullptr) {
    [[maybe_unused]] const auto written = write(STDERR_FILENO, text, std::strlen(text));
  }
  std::signal(signal, SIG_DFL);
  raise(signal);
}

void note(int signal) {
  if (signal_that_came != 0) {
    end_at_once(signal);
  }
  signal_that_came = signal;
}

std::atomic<bool> pipe_is_closed{false};
void note_closed_pipe(int) { pipe_is_closed = true; }

void handle(int signal, void (*handler)(int), struct sigaction* before) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(signal, nullptr, before);
  if (before->sa_handler != SIG_IGN) {  // as nohup wants it
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace

void leave_nothing_unfinished() {
  struct sigaction before {};
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    handle(signal, end_at_once, &before);
  }
}

void survive_failed_writes() {
  struct sigaction before {};
  handle(SIGPIPE, note_closed_pipe, &before);
  std::signal(SIGXFSZ, SIG_IGN);
}

bool is_pipe_closed() { return pipe_is_closed; }

LastWords::LastWords(const char* text) { last_words = text; }
LastWords::~LastWords() { last_words = nullptr; }

Interrupt::Interrupt() {
  signal_that_came = 0;
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    handle(kSignals[i], note, &before_[i]);
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
