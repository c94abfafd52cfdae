// SPDX-License-Identifier: Apache-2.0
//
// Fits the parameters of one chip and stack to measured operators, and writes them as an overlay:
//
//   base: generic
//   provenance: calibrated
//   fitted_on: "6500 rows, FNV-1a 8c1f…"
//   gemm.wave_tail: 0.31
//   uncertainty: [{parameter: gemm.wave_tail, percent: 4}]
//   errors: [{kind: gemm, rows: 1200, held_back: 5100, median: 0.09, …}]
//
// A fit has stages, and each stage owns groups of the calibration. Every number of a group is a candidate. A number stays as
// it is if it moves no prediction, or if the rows do not place it apart from where it was. One that they place no better than
// ± 50 % is fixed at what was found, with `fixed: true`, and the rest is fitted again.
//
// Rows are drawn by a hash of their shape. A fifth of the shapes is held back whole and only judges
// (calibrate/platforms/held_back.hpp). Of the rest, each number format gives at most the same number of rows to the
// parameters (calibrate/fit/fit_tables.hpp). All of the rest go to the corrections (calibrate/fit/correction_fit.hpp).
//
// What was different in older versions of the stack is fitted to their rows (calibrate/fit/version_fit.hpp).
//
// Where there are fewer than kFewRows rows, parameters start from the nearest chip's (hardware/nearest_calibration.hpp) and
// keep its corrections:
//
//   base: h200_sxm.vllm
//   launch.kernel: 2.1 us
//
// A parameter's standard deviation around its start is its spread over the shipped calibrations
// (calibrate/fit/parameter_spread.hpp). That of a row is 1.48 times the median error of the start on rows that it has not
// seen. All rows are fitted to. To judge, the fit is done ten times, each time without a tenth of the rows, which judge it.
// The interval is never narrower than that of the start.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/document/node.hpp"
#include "calibrate/fit/parameter_fit.hpp"
#include "calibrate/platforms/error_summary.hpp"
#include "hardware/calibration.hpp"

namespace roofcast::calibrate {

struct KindErrors {
  std::string kind;
  std::size_t given = 0;     // rows that were fitted to
  ErrorSummary before;       // of the rows held back: with generic parameters,
  ErrorSummary physical;     // with fitted ones,
  ErrorSummary after;        // and with the corrections
  std::vector<Pair> pairs;   // those of `after`
  double low = 0, high = 0;  // quantiles of a next measured / predicted (base::next_quantile)
  std::map<std::string, std::size_t> refused;  // rows by reason
};

struct FittedCalibration {
  std::string chip, chip_name, stack;
  std::vector<FittedParameter> parameters;
  std::vector<FittedParameter> stay;  // that move predictions, and that the rows do not place
  std::vector<KindErrors> kinds;
  std::vector<hardware::CorrectionGrid> corrections;
  std::vector<hardware::KindError> others;  // of kinds without rows: those of the start
  std::string version;                      // the newest of the stack; empty: the tables have none
  std::vector<FittedVersion> older;
  // Kernels that servers tune; its version is the stack that they are like. Of some stacks only.
  std::optional<FittedVersion> tuned;
  RowsRead rows;
  // Of few rows only.
  base::Node start;        // a calibration's id, or what differs from one; null: rows are not few
  std::string start_name;  // "NVIDIA H200 with vllm, fitted"
  std::string start_provenance;  // stays that of the fit
};

inline constexpr std::size_t kFewRows = 100;

struct FitRequest {
  std::string chip, stack;
  FitSources sources;
  Split split = Split::shapes;
  std::vector<std::string> fixed = {};  // paths of parameters that stay where they are
};

// Throws InputError when the chip is not of the catalog, no table has rows of it, or a fixed parameter is none.
FittedCalibration fit_calibration(const FitRequest& request);

// "10 rows, FNV-1a 1a2b…": the value of `fitted_on:`.
std::string rows_text(const RowsRead& rows);
// An item of a calibration's `errors:`.
std::string error_item(const hardware::KindError& error);

// The overlay's document.
std::string overlay(const FittedCalibration& fitted, const std::string& source);

}  // namespace roofcast::calibrate
