// SPDX-License-Identifier: Apache-2.0
//
// The spread between architectures, from the measured ones: each is left out in turn, and its rows are forecast from the
// others (hardware/nearest_calibration.hpp).
//
// A row's residual r = ln(measured / predicted) has two sources: the error of any calibration, and the distance. The
// score of a row is the half-width between unrelated architectures that would just hold it,
//
//   score² = (r² − (1 − v)·own²) / v,   on the side of r; 0 where that is negative, and on the other side
//
//   own, v  –  as of hardware::TransferredError
//
// The 95 % quantile of the scores is taken on each side, all architectures alike, and in an architecture all chips and
// stacks alike (conformal prediction with scores scaled by a known difficulty: H. Papadopoulos et al., Neural Networks
// 24, 2011; groups as the units of exchange: R. Dunn, L. Wasserman, A. Ramdas, JASA 118, 2023). Few architectures say
// little, so two means of squares follow, as of an empirical Bayes estimate:
//
//   each side with the mean of both sides, 1 : 1, since whether the next architecture is faster or slower is not known
//   each kind with the median of all kinds, n : 1, where n architectures have the kind
//
// For an architecture that is judged as if it were unmeasured, the same is done without it: spreads never know the rows
// that they are judged by.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "hardware/nearest_calibration.hpp"
#include "hardware/spreads.hpp"

namespace roofcast::calibrate {

// The name where no architecture is left out of the spreads.
inline constexpr const char* kNone = "none";

// The architectures of the measured chips, by name.
std::vector<std::string> measured_architectures();

class ArchitectureScores {
 public:
  // A row of an architecture, forecast without it and without `unmeasured`. `r`: ln(measured / predicted).
  void add(const std::string& unmeasured, const std::string& kind, const std::string& architecture,
           const std::string& chip_and_stack, double r, const hardware::TransferredError& error);

  std::vector<hardware::ArchitectureSpread> spreads() const;

 private:
  struct Sides {
    std::vector<double> below, above;  // squares of scores
  };
  using Series = std::map<std::string, Sides>;                          // by chip and stack
  using Architectures = std::map<std::string, Series>;                  // by architecture
  std::map<std::string, std::map<std::string, Architectures>> scores_;  // by unmeasured, by kind
};

// The document of hardware/spreads/operators.yaml.
std::string spreads_document(const hardware::Spreads& spreads);

}  // namespace roofcast::calibrate
