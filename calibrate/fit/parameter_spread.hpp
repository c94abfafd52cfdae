// SPDX-License-Identifier: Apache-2.0
//
// What the shipped calibrations of chips and stacks say about each parameter: how far it differs between them, and how
// well rows place it.
#pragma once

#include <string>
#include <vector>

namespace roofcast::calibrate {

// By a fit whose rows place the parameter apart from its generic value.
struct PlacedParameter {
  std::string calibration;   // "h100_sxm.vllm"
  std::string text;          // as it is written
  double uncertainty = 0.0;  // FittedParameter::uncertainty; 0.1: 10 %
  bool fixed = false;        // FittedParameter::fixed
};

struct ParameterSpread {
  std::string path;                  // "gemm.wave_tail"
  std::string generic, least, most;  // as they are written
  double deviation =
      0.0;  // standard deviation of ln p over all, placed or not; 0 where a value is 0
  std::vector<PlacedParameter> placed;  // by calibration
};

// In the order of the schema.
const std::vector<ParameterSpread>& parameter_spreads();

// "4.2" and "130", of 0.042 and 1.3.
std::string percent_text(double share);

struct FittedOn {
  std::string calibration;
  std::string rows;  // "33299 rows, FNV-1a 2dae8cb623a21764"
};
// All calibrations that were fitted.
const std::vector<FittedOn>& fitted_calibrations();

}  // namespace roofcast::calibrate
