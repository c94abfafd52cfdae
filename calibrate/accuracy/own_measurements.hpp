// SPDX-License-Identifier: Apache-2.0
//
// The tables that roofcast-bench wrote on real chips (calibrate/measurements/CHIP), which no shipped calibration was fitted to:
// beside the forecasts, beside the tables of others, and as a calibration of their own.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "calibrate/platforms/error_summary.hpp"
#include "hardware/spreads.hpp"

namespace roofcast::calibrate {

struct OwnErrors {
  std::string chip, what;  // "gemm, bfloat16"
  std::vector<Pair> pairs;
};

// GEMMs in bf16 that a stack's table has too. Rows of other formats contain the quantising of activations there.
struct RepeatedGemms {
  std::string chip, stack;
  std::vector<double> ratios;  // the other time / ours
};

// A parameter of a chip: fitted to its own GEMMs alone, and as it ships.
struct OwnParameter {
  std::string chip, path, alone, shipped;
};

struct OwnMeasurements {
  std::vector<OwnErrors> forecasts;  // with the calibration that ships
  std::vector<OwnErrors>
      alone;  // with one that was fitted to the other shapes of the chip's own GEMMs
  std::vector<RepeatedGemms> repeated;
  std::vector<OwnParameter> parameters;
};

// What two laboratories measure of the same GEMMs.
hardware::RepeatedSpread repeated_spread(const OwnMeasurements& own);

// Of all chips that have a folder beside `tables`, which is that of the operators of others.
OwnMeasurements own_measurements(const std::filesystem::path& tables);

}  // namespace roofcast::calibrate
