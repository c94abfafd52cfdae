// SPDX-License-Identifier: Apache-2.0
//
// What a suite works with: where its rows go, how long it has, and what becomes of a shape that fails.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "calibrate/bench/plan.hpp"
#include "calibrate/bench/table.hpp"

namespace roofcast::bench {

struct SuiteRun {
  std::filesystem::path directory;
  Subject subject;
  Deadline deadline;
  // Empty, or why the GPU can no longer be used, after an error that the driver does not recover from.
  std::function<std::string()> lost = [] { return std::string(); };
  std::string gone = {};  // what lost() said
  std::int64_t rows = 0, failures = 0;
  std::string first_failure = {};

  // `measure` gives the results of one shape, or throws the reason why there are none. After the deadline, and on a
  // GPU that is lost, nothing is tried and the row says so.
  void row(Table& table, const Cells& shape, const std::function<Cells()>& measure);

 private:
  void fail(Table& table, const Cells& shape, const std::string& reason);
};

}  // namespace roofcast::bench
