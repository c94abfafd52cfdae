// SPDX-License-Identifier: Apache-2.0
//
// Another forecaster's predictions beside ours, on the same measurements.
//
// Its table has the key columns, and a column of each quantity called as `validate --out` calls it
// (predicted_tpot_ms), so that what an older release wrote is such a table. An empty cell is no prediction;
// a column `reason` may say why. Columns that are not asked for are passed over.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/csv/csv.hpp"
#include "calibrate/platforms/error_summary.hpp"

namespace roofcast::cli {

class PeerComparison {
 public:
  // Compares nothing when `file` is empty. Throws InputError on a missing column, a key that stands in
  // two rows, and a prediction that is no number above 0.
  PeerComparison(const std::string& file, std::vector<std::string> key_columns,
                 std::vector<std::string> predicted_columns);

  // A measured row: of each quantity the measurement and our prediction, NaN where there is none. `reason`
  // says why ours are missing. InputError when the key was there before.
  void add(const std::vector<std::string>& key, const std::vector<calibrate::Pair>& ours,
           const std::string& reason);

  // Errors on the rows that both predict, how often ours are nearer, and why the other rows are left out;
  // empty when nothing is compared. InputError when no row is common.
  std::string text() const;

 private:
  struct Quantity {
    std::string column;
    std::size_t place = 0;
    std::vector<calibrate::Pair> ours;
    std::vector<calibrate::Pair> theirs;
    std::size_t nearer = 0;
    std::size_t equal = 0;
  };

  std::string joined(const std::vector<std::string>& key) const;
  double prediction(std::size_t row, std::size_t column) const;
  std::string reason_of(std::size_t row) const;

  base::CsvTable table_;
  std::vector<std::string> key_columns_;
  std::vector<Quantity> quantities_;
  std::map<std::string, std::size_t> rows_;  // by key
  std::map<std::string, bool> seen_;         // keys of measured rows
  std::map<std::string, std::size_t> left_out_;
};

}  // namespace roofcast::cli
