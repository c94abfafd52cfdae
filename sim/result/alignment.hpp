// SPDX-License-Identifier: Apache-2.0
//
// Widths of GEMMs that waste a part of a tile of the tensor cores.
//
// A GEMM of n columns and depth k is cut into tiles of 64, 128 or 256 columns and into steps of 64 in depth
// (models/operators/gemm.hpp). The cost of a width is the GEMM's time per column (or per unit of depth). The gain of a
// neighbouring width is the share by which it is cheaper, in the same model, with all else equal. Widths are those of
// one rank: the model's widths, cut by tensor parallelism.
#pragma once

#include <string_view>
#include <vector>

#include "sim/result/serving_estimate.hpp"
#include "sim/scenario/scenario.hpp"

namespace roofcast::sim {

struct AlignedWidth {
  std::int64_t width = 0;
  double gain = 0.0;  // share of the time per column: 0.04 is 4 % less
};

struct Misalignment {
  std::string_view call;
  bool depth = false;  // true: k; false: n
  std::int64_t width = 0;
  double share = 0.0;  // share of the iteration
  AlignedWidth below;  // width 0 if there is none
  AlignedWidth above;
};

// GEMMs of the iteration with prompts for which a neighbouring width gains at least kLeastGain, once for each width.
inline constexpr double kLeastGain = 0.02;
std::vector<Misalignment> misalignments(const ScenarioView& scenario,
                                        const ServingEstimate& estimate);

}  // namespace roofcast::sim
