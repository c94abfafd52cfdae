// SPDX-License-Identifier: Apache-2.0
//
// The sweep that a command line asks: a file, and the options that change its rows. `roofcast sweep` answers it, and
// `roofcast submit` has its tasks answer it.
#pragma once

#include <string>

#include "base/document/node.hpp"

namespace roofcast::cli {

class Command;

struct AskedSweep {
  std::string sweep;
  std::string as_if_unmeasured;
  bool simulate = false;
  bool all_columns = false;
};

// The file is an argument of the command, the rest are options.
void add_asked_sweep(Command& command, AskedSweep& asked);

// The document with what the options say of it. Throws InputError where it is one scenario.
base::Node document_of(const AskedSweep& asked);

// "it.yaml --simulate", as words of a shell.
std::string shell_words(const AskedSweep& asked);

}  // namespace roofcast::cli
