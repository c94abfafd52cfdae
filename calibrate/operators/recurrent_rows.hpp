// SPDX-License-Identifier: Apache-2.0
//
// Rows of mamba2.csv and gdn.csv, one kernel each, as operators.
//
// causal_conv1d_fn and _update are memory-bound kernels over rows and the three before each sequence;
// mamba_chunk_scan_combined and chunk_gated_delta_rule* scans, fused_recurrent_gated_delta_rule* and
// selective_state_update a decode iteration. Conventions of the measurements:
//   - TensorRT-LLM's causal_conv1d_fn gives each sequence and channel to a CTA that costs 704 tokens at least
//   - its gdn rows stir the channels of one of queries, keys and values at a time: key heads · head_k_dim
//   - the delta rule runs in chunks of 64 tokens; states are fp32
//   - a row is of a kernel that ran just before on the same states and rows, which the L2 still holds a part of
//   - convolutions write over their rows, but vLLM's causal_conv1d_fn to others
//   - TensorRT-LLM's fused_recurrent_gated_delta_rule is given states in bf16 and writes new ones in fp32, 6 bytes an element
//     for the 8 of a model: 3.9 TB/s counted as 8 would be 117 % of an H100's bandwidth (collector/trtllm/collect_gdn.py)
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "workloads/graph/operator.hpp"

namespace roofcast::calibrate {

// No value where the kernel is not modelled. `at` gives a whole number of the row by its column's name.
std::optional<workloads::Operator> recurrent_operator(
    std::string_view kind, std::string_view kernel, std::string_view stack,
    const std::function<std::int64_t(std::string_view)>& at);

}  // namespace roofcast::calibrate
