// SPDX-License-Identifier: Apache-2.0
//
// Widths that waste a part of a tile of the tensor cores.
//
// A GEMM of n columns and depth k is cut into tiles of 64, 128 or 256 columns and steps of 64 of depth
// (models/operators/gemm.hpp). What a width costs is its time for one of its columns; what a neighbour would gain is how much
// less that is, by the same model, all else equal. Widths are those of one rank: a model's, cut by tensor
// parallelism.
#pragma once

#include <string_view>
#include <vector>

#include "sim/result/serving_estimate.hpp"
#include "sim/scenario/scenario.hpp"

namespace roofcast::sim {

struct AlignedWidth {
  std::int64_t width = 0;
  double gain = 0.0;  // of the time for a column, 0.04 = 4 % less
};

struct Misalignment {
  std::string_view call;
  bool depth = false;  // k and not n
  std::int64_t width = 0;
  double share = 0.0;  // of the step
  AlignedWidth below;  // width 0 where there is none
  AlignedWidth above;
};

// Of the step with prompts, those of which a neighbour gains at least kLeastGain, once for each width.
inline constexpr double kLeastGain = 0.02;
std::vector<Misalignment> misalignments(const ScenarioView& scenario,
                                        const ServingEstimate& estimate);

}  // namespace roofcast::sim
