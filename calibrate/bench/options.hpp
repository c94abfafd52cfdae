// SPDX-License-Identifier: Apache-2.0
//
// The command line of roofcast-bench.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace roofcast::bench {

struct Options {
  std::filesystem::path directory;  // --out; empty with --list and --drift
  std::string chip;                 // empty: by the GPU's name
  std::vector<std::string> only;    // suites; empty: all
  double budget_s = 450.0;
  bool list = false;
  bool drift = false;
  std::filesystem::path
      board;  // --board: this process is `rank` of a team (calibrate/bench/team.hpp)
  std::size_t rank = 0;
};

// Parsing fills `options`, which outlives the parser, or throws CLI::ParseError.
std::unique_ptr<CLI::App> make_parser(Options& options);

}  // namespace roofcast::bench
