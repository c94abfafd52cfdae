// SPDX-License-Identifier: Apache-2.0
//
// `roofcast compare OLD.csv NEW.csv`: two tables of results as a report for people, a CSV for
// machines and an exit code for a gate.
#pragma once

#include <string>
#include <vector>

namespace roofcast::cli {

struct CompareResultsOptions {
  std::string old_results;
  std::string new_results;
  std::vector<std::string> key;  // empty: every column that is no metric and no verdict
  // All empty: every metric of sim/result/metrics.hpp that has a direction, in both tables.
  std::vector<std::string> metrics;
  std::vector<std::string> maximize;
  std::vector<std::string> minimize;
  std::vector<std::string> tolerances;  // [COLUMN=]TOLERANCE
  std::string csv;
  std::string report;
  bool json = false;
  bool strict = false;
};

int compare_results(const CompareResultsOptions& options);

}  // namespace roofcast::cli
