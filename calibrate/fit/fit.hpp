// SPDX-License-Identifier: Apache-2.0
//
// Fits the parameters of one chip and stack to measured operators, and writes them as an overlay:
//
//   base: generic
//   provenance: calibrated
//   gemm.wave_tail: 0.31              # ± 4 %
//   errors: [{kind: gemm, rows: 1200, held_back: 5100, median: 0.09, …}]
//
// Every number of a group of the calibration is a candidate, in stages that own their groups; one that
// moves no prediction, or that the rows do not place apart from where it was, stays as it is. Rows are drawn by a
// hash of their shape: a fifth of the shapes is held back whole and only judges (calibrate/platforms/held_back.hpp); of
// the rest every number format gives the same number at most to the parameters, and all go to the corrections
// (calibrate/fit/correction_fit.hpp).
//
// Where a table has several versions of the stack, the newest with rows of a number format gives all of its rows. What was
// different before is fitted to the older ones (calibrate/fit/version_fit.hpp).
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "calibrate/fit/version_fit.hpp"
#include "calibrate/platforms/error_summary.hpp"
#include "calibrate/platforms/held_back.hpp"
#include "hardware/calibration.hpp"

namespace roofcast::calibrate {

struct FittedParameter {
  std::string path;          // "gemm.wave_tail"
  std::string before, text;  // as YAML values
  double uncertainty = 0;    // ± of its logarithm, 90 %
};

struct KindErrors {
  std::string kind;
  std::size_t given = 0;     // rows that were fitted to
  ErrorSummary before;       // of the rows held back: with generic parameters,
  ErrorSummary physical;     // with fitted ones,
  ErrorSummary after;        // and with the corrections
  std::vector<Pair> pairs;   // those of `after`
  double low = 0, high = 0;  // 5 % and 95 % quantiles of measured / predicted, held back
  std::map<std::string, std::size_t> refused;  // rows by reason
};

struct FittedCalibration {
  std::string chip, chip_name, stack;
  std::vector<FittedParameter> parameters;
  std::vector<KindErrors> kinds;
  std::vector<hardware::CorrectionGrid> corrections;
  std::vector<hardware::KindError> others;  // of kinds without rows: those of generic parameters
  std::string version;                      // the newest of the stack; empty: the tables have none
  std::vector<FittedVersion> older;
};

// `tables` holds a table (find_table) of each kind to fit; kinds without a table or rows are left out. Throws InputError
// when the chip is not of the catalog or no table has rows of it.
FittedCalibration fit_calibration(const std::string& chip, const std::string& stack,
                                  const std::filesystem::path& tables, Split split = Split::shapes);

// An item of a calibration's `errors:`.
std::string error_item(const hardware::KindError& error);

// The overlay's document.
std::string overlay(const FittedCalibration& fitted, const std::string& source);

}  // namespace roofcast::calibrate
