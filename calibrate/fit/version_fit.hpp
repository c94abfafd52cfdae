// SPDX-License-Identifier: Apache-2.0
//
// Fits what was different in older versions of a stack: corrections of the kernels that were others then
// (hardware/kernel_versions.hpp). Parameters stay those of the newest version.
//
// Going back from the newest, each version starts from the corrections of the next newer one. A new correction stays if it
// brings the rows that are held back nearer by more than kOtherKernels, which no difference between timers explains.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/version.hpp"
#include "calibrate/operators/operator_rows.hpp"
#include "hardware/correction.hpp"
#include "models/machine.hpp"

namespace roofcast::calibrate {

// Rows of gemm_power, under sustained load, take up to 1.2 times those of gemm. In logarithms, as a mean over rows.
inline constexpr double kOtherKernels = 0.1;

struct VersionRows {
  std::string version;
  std::set<std::string> kinds;  // of the tables that have it
  std::vector<MeasuredOperator> given;
  std::vector<MeasuredOperator> held_back;
};
using OlderRows = std::map<base::Version, VersionRows, std::greater<>>;

struct FittedVersion {
  std::string version;
  std::set<std::string> kinds;
  std::vector<hardware::CorrectionGrid> corrections;
};

// `physical`: with the parameters of the newest version; `corrections`: those of the newest version.
std::vector<FittedVersion> fit_versions(const OlderRows& rows, const models::Machine& physical,
                                        hardware::Corrections corrections);

}  // namespace roofcast::calibrate
