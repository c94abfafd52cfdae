// SPDX-License-Identifier: Apache-2.0
//
// What follows when every row of a sweep is estimated: replays, CSV, report, and the answer on stdout.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/csv/csv.hpp"
#include "cli/provenance/sweep_parts.hpp"
#include "sim/decide/result_table.hpp"
#include "sim/decide/sweep_points.hpp"
#include "sim/result/serving_estimate.hpp"

namespace roofcast::cli {

struct SweepOutputs {
  std::string csv;
  std::string report;  // none if empty
  unsigned threads = 0;
  bool simulate = false;  // every row is replayed
  bool replay = true;     // the recommended ones are
  bool quiet = false;     // prints nothing
  bool json = false;
  bool made_by = false;  // every row has the id of what made it
};

// Throws InputError if OUT.sweep.yaml would be written over one that roofcast has not written for OUT.csv.
void check_sweep_beside(const std::string& csv, const std::string& sweep_text);

// The writer of the CSV. Opened before the sweep runs: a path that cannot be written is reported before the work. Calls
// check_sweep_beside().
base::CsvWriter open_result(const sim::SweepPoints& points, const std::string& sweep_text,
                            const SweepOutputs& outputs);

// `sweep_text` is that of result_csv.hpp. Rows of a simulated sweep that are replayed already have the columns of
// replays. `estimates` are those of all points, if they are kept.
void finish_sweep(const sim::SweepPoints& points, sim::ResultTable& table,
                  std::span<const sim::ServingEstimate> estimates, const std::string& sweep_text,
                  const SweepOutputs& outputs, base::CsvWriter& csv,
                  const PartsOnDisk* parts = nullptr);

// All rows of parts, with ranks, and what follows. Parts that are estimated are copied through.
void finish_parts(const sim::SweepPoints& points, const PartsOnDisk& parts,
                  const std::string& sweep_text, const SweepOutputs& outputs, base::CsvWriter& csv);

}  // namespace roofcast::cli
