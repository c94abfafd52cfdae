// SPDX-License-Identifier: Apache-2.0
//
// Which kernels a serving stack joins or chooses. It is the `fusion:` group of a stack, and an input of every graph.
#pragma once

#include <cstdint>

#include "base/document/fields.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::workloads {

// Whose activations leave the kernel before already quantised: nobody's, those with one scale a tensor
// (a compiler fuses that), or those with a scale a block too. The rest are quantised by their own kernels.
enum class QuantiseFusion : std::uint8_t { none, tensors, all };

struct Fusion {
  QuantiseFusion quantise = QuantiseFusion::none;
  AllReduceKernels custom_all_reduce = AllReduceKernels::library;
  bool norm = false;  // all-reduces of at most kFusedNormBytes add the residual and normalise
  bool alternative_experts = false;      // GroupedGemm::alternative_kernel
  bool overlaps_shared_experts = false;  // shared experts run while tokens are dispatched
};

// What InferenceX lets vLLM fuse between 8 ranks (SemiAnalysisAI/InferenceX@bb4c7f9
// benchmarks/70b_fp8_b200_docker.sh); 2 and 4 may fuse more.
inline constexpr double kFusedNormBytes = 8e6;

// The group `fusion:`; overlaps_shared_experts is the scenario's (serving.overlap).
void read(base::Fields& f, Fusion& fusion);

}  // namespace roofcast::workloads
