// SPDX-License-Identifier: Apache-2.0
//
// Ctrl-C and SIGTERM as a wish to stop at the next good place. A second one ends the program at once. One object at a
// time.
#pragma once

#include <csignal>

namespace roofcast::cli {

// From now on these and SIGHUP remove what is not written whole before they end the program (base/document/output_file.hpp).
void leave_nothing_unfinished();

// From now on a write to a pipe that nobody reads, or beyond the limit of a file's size, fails, and the program goes on: what
// belongs together is written together.
void survive_failed_writes();
// Whether a pipe was written to that nobody reads.
bool is_pipe_closed();

// What is said when a signal ends the program at once, while the object lives. The text lives as long.
class LastWords {
 public:
  explicit LastWords(const char* text);
  LastWords(const LastWords&) = delete;
  LastWords& operator=(const LastWords&) = delete;
  ~LastWords();
};

class Interrupt {
 public:
  Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();  // what the signals did before

  int signal() const;  // that came; 0: none

 private:
  struct sigaction before_[2];
};

// Ends the program by the signal, so that whoever started it sees that it was stopped.
[[noreturn]] void end_by(int signal);

}  // namespace roofcast::cli
