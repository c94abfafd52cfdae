// SPDX-License-Identifier: Apache-2.0
//
// One self-contained HTML file of two results: the best of each group before and after, both fronts in one chart, and the
// rows that moved most.
//
// The page, its data contract and its drawings are cli/assets/comparison.*.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/csv/csv_file.hpp"
#include "sim/decide/result_comparison.hpp"

namespace roofcast::cli {

struct ComparedTables {
  base::CsvFile& before;
  base::CsvFile& after;
  const std::vector<std::string>& key;
  const std::vector<sim::ComparedMetric>& metrics;
};

// `notes`: sentences above the figures.
void write_report(const sim::ResultComparison& result, const ComparedTables& tables,
                  const std::vector<std::string>& notes, const std::filesystem::path& file);

}  // namespace roofcast::cli
