// SPDX-License-Identifier: Apache-2.0
#include "calibrate/bench/suite_run.hpp"

#include <exception>

namespace roofcast::bench {

void SuiteRun::row(Table& table, const Cells& shape, const std::function<Cells()>& measure) {
  ++rows;
  if (!gone.empty()) {
    fail(table, shape, "not tried: " + gone);
    return;
  }
  if (deadline.over()) {
    fail(table, shape, "not tried: the suite's time was spent");
    return;
  }
  Cells results;
  try {
    results = measure();
  } catch (const std::exception& error) {
    fail(table, shape, error.what());
    gone = lost();
    return;
  }
  table.measured(shape, results);
}

void SuiteRun::fail(Table& table, const Cells& shape, const std::string& reason) {
  if (failures++ == 0) {
    first_failure = reason;
  }
  table.failed(shape, reason);
}

}  // namespace roofcast::bench
