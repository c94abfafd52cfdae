// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit/version_fit.hpp"

#include "calibrate/fit/correction_fit.hpp"

namespace roofcast::calibrate {
namespace {

std::vector<const MeasuredOperator*> pointers(const std::vector<MeasuredOperator>& rows) {
  std::vector<const MeasuredOperator*> all;
  for (const MeasuredOperator& row : rows) {
    all.push_back(&row);
  }
  return all;
}

}  // namespace

std::vector<FittedVersion> fit_versions(const OlderRows& rows, const models::Machine& physical,
                                        hardware::Corrections corrections) {
  std::vector<FittedVersion> fitted;
  for (const auto& [version, of] : rows) {
    fitted.push_back({of.version, of.kinds,
                      earned(fit_corrections(pointers(of.given), physical, corrections),
                             pointers(of.held_back), physical, corrections, kOtherKernels)});
    for (const hardware::CorrectionGrid& grid : fitted.back().corrections) {
      corrections.add(grid);
    }
  }
  return fitted;
}

}  // namespace roofcast::calibrate
