// SPDX-License-Identifier: Apache-2.0
//
// The result of a sweep as a CSV, one row a point: what feeds spreadsheets, `pareto` and `report`.
//
//   point, <one column an axis>, fits, meets, pareto_rank, reason, <metrics in SI units>, <bounds>
// pareto_rank is empty where a row does not meet the constraints.
//
// Beside OUT.csv stands OUT.sweep.yaml, the sweep that made it with its base scenario written out.
#pragma once

#include <filesystem>
#include <string>

#include "base/csv/csv.hpp"
#include "sim/decide/sweep_run.hpp"

namespace roofcast::cli {

// Opened before the sweep runs: a path that cannot be written is told before the work, not after it.
base::CsvWriter open_sweep_csv(const sim::Sweep& sweep, const std::filesystem::path& file);
// `threads` 0 = all cores; the same bytes whatever their number.
void write_sweep_csv(const sim::SweepPoints& points, const sim::SweepResult& result,
                     unsigned threads, base::CsvWriter& csv);

// The sweep as one document: its base scenario inline.
std::string sweep_text(const base::Node& document, const sim::Sweep& sweep);

// OUT.csv or OUT.csv.gz → OUT.sweep.yaml
std::filesystem::path sweep_file_beside(const std::filesystem::path& csv);

// Why a row does not count: does not fit, or the first constraint it misses. Empty when it counts.
std::string row_reason(const sim::Sweep& sweep, const sim::ServingEstimate& estimate);

}  // namespace roofcast::cli
