// SPDX-License-Identifier: Apache-2.0
//
// The work behind `solve`: the answer to a scenario that is in memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

#include "base/document/node.hpp"
#include "cli/text/solve_answer.hpp"

namespace roofcast::cli {

// The texts are those of the options of `roofcast solve`.
struct SolveQuestion {
  base::Node scenario;
  std::vector<std::string> set;
  std::vector<std::string> vary;
  std::vector<std::string> until;
  std::string minimize;
  std::string maximize;
  bool no_replay = false;
  std::atomic<std::size_t>* done = nullptr;  // counts estimates and replays, for a progress display
};

// Throws InputError.
SolveAnswer solve(const SolveQuestion& question);

}  // namespace roofcast::cli
