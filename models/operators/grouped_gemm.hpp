// SPDX-License-Identifier: Apache-2.0
//
// Time of the grouped GEMM of a mixture of experts. It has the terms of gemm.hpp with these changes:
//
//   tiles along m   ⌈rows/bm⌉ for each distinct expert; rows/bm + ½ on average, at least 1, unless rows are even:
//                   half a tile is lost at the ragged end
//   rows            pairs / distinct, the mean of an expert
//   tensor rate     · grouped_gemm_efficiency
//   streaming rate  · expert_stream_efficiency: the weights of an expert are a short stream that starts anew
//
// Valid for any number of rows. Formats that are widened on the way (4-bit weights, 16-bit activations)
// measure up to 2.5 times slower than this.
#pragma once

#include <string>

#include "models/cost.hpp"
#include "models/machine.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::models {

struct Anatomy;  // filled where there is one

struct Tiling;

// `cut` is the tile to take in place of the fastest one.
Cost grouped_gemm_cost(const workloads::GroupedGemm& op, const Machine& machine,
                       Anatomy* anatomy = nullptr, const Tiling* cut = nullptr);

// Why no kernel cuts the products so; empty where one does.
std::string fault_of(const workloads::GroupedGemm& op, const Tiling& cut, const Machine& machine);

}  // namespace roofcast::models
