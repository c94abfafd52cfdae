// SPDX-License-Identifier: Apache-2.0
//
// What `roofcast calibrate validate KIND DATA` does for each kind of measurement: predicts every row and
// prints errors by group, skipped rows by reason, and last the summary line a script can read. `simulation` has no data:
// it draws scenarios, and holds the estimates against simulations (calibrate/accuracy/agreement.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/csv/csv.hpp"
#include "calibrate/platforms/error_summary.hpp"
#include "hardware/nearest_calibration.hpp"

namespace roofcast::cli {

struct ValidationOptions {
  std::string kind;
  std::string data;
  std::string out;                 // empty for none
  std::vector<std::string> where;  // COLUMN=VALUE
  std::string calibration;         // in place of the chips' own; empty for those
  std::string as_if_unmeasured;    // "chip" or "architecture"; empty: nothing
  std::string report;              // HTML, of requests; empty for none
  std::string against;             // a peer's predictions (cli/validate/peer_comparison.hpp)
  // Of `simulation`.
  std::optional<std::uint32_t> scenarios;
  std::optional<std::uint32_t> seed;
  unsigned threads = 0;
  bool check_only = false;
  nlohmann::ordered_json* json = nullptr;  // filled in place of what is printed

  hardware::Unmeasured unmeasured() const {
    return as_if_unmeasured.empty()     ? hardware::Unmeasured::nothing
           : as_if_unmeasured == "chip" ? hardware::Unmeasured::chip
                                        : hardware::Unmeasured::architecture;
  }
};

int validate_serving(const ValidationOptions& options);
int validate_operators(const ValidationOptions& options);
int validate_training(const ValidationOptions& options);
int validate_post_training(const ValidationOptions& options);
int validate_requests(const ValidationOptions& options);
int validate_simulation(const ValidationOptions& options);

// Rows whose cells equal the values asked for. Throws InputError on an unknown column.
class RowFilter {
 public:
  RowFilter(const base::CsvTable& table, const std::vector<std::string>& where);
  bool keeps(std::size_t row) const;

 private:
  const base::CsvTable& table_;
  std::vector<std::pair<std::size_t, std::string>> conditions_;
};

// Every row of the input with its own columns, then the forecast's.
class ErrorsFile {
 public:
  // Writes nothing when `file` is empty.
  ErrorsFile(const std::string& file, const base::CsvTable& table,
             const std::vector<std::string>& predicted_columns);
  // `predicted` NaN where there is no prediction.
  void add(std::size_t row, const std::vector<double>& predicted, const std::string& provenance,
           const std::string& reason);
  void close();

 private:
  const base::CsvTable& table_;
  std::unique_ptr<base::CsvWriter> csv_;
};

// {"rows", "mape", "median", "p90", "bias", "coverage90"}; null where there are no pairs.
nlohmann::ordered_json error_json(const calibrate::ErrorSummary& errors);

// Mean, median, p90, bias and coverage as cells of a table.
std::vector<std::string> error_cells(const calibrate::ErrorSummary& errors);
// "not predicted, because | rows"; empty when nothing was skipped.
std::string skipped_table(const std::map<std::string, std::size_t>& by_reason);

}  // namespace roofcast::cli
