// SPDX-License-Identifier: Apache-2.0
//
// What could stand at the end of a command line: commands, options, choices, catalog ids, columns of
// tables, and knobs of the scenario named on it.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace roofcast::cli {

struct Proposal {
  std::string word;  // the whole last word; more is to follow one that ends in "." or "="
  std::string note;  // a few words on it; may be empty
};

struct Proposals {
  std::vector<Proposal> words;
  bool files = false;  // a file's name could stand there
};

// `words` are those after the program's name; the last one is unfinished and may be empty. A file
// that cannot be read proposes nothing.
Proposals propose(const CLI::App& program, const std::vector<std::string>& words);

// Whether its type (cli/program/usage.hpp) says what to propose.
bool knows_values(const CLI::Option& option);

}  // namespace roofcast::cli
