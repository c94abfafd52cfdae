// SPDX-License-Identifier: Apache-2.0
//
// Time of the grouped GEMM of a mixture of experts: gemm.hpp's terms, with ⌈rows/bm⌉ tiles for each
// distinct expert (rows = pairs / distinct on average, half a tile lost to the ragged end unless rows are even), at
// `grouped_gemm_efficiency` of the tensor rate and `expert_stream_efficiency` of the streaming rate: the
// weights of an expert are a short stream that starts anew. Valid for any number of rows; formats that are
// widened on the way (4-bit weights, 16-bit activations) measure up to 2.5 times slower than this.
#pragma once

#include "models/cost.hpp"
#include "models/machine.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::models {

Cost grouped_gemm_cost(const workloads::GroupedGemm& op, const Machine& machine);

}  // namespace roofcast::models
