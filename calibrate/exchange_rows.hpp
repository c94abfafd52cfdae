// SPDX-License-Identifier: Apache-2.0
//
// Rows of deepep_ll.csv, deepep_normal.csv and trtllm_alltoall.csv, dispatch and combine of experts.
//
// Conventions of the measurements:
//   - DeepEP: 8 ranks a node, `num_token` tokens of each rank to `num_topk` experts; a row's time is
//     dispatch (fp8) and combine (bf16), what their kernels notify included. Low-latency mode sends every
//     copy, normal mode one to each domain and rank
//   - TensorRT-LLM: each of moe_ep_size ranks has num_tokens tokens, and balanced routing takes one to
//     min(topk, ranks) of them, once each
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "workloads/operator.hpp"

namespace roofcast::calibrate {

// None where the row is not modelled. `at` gives a whole number of the row by its column's name.
std::vector<workloads::Operator> exchange_operators(
    std::string_view kind, std::string_view name, base::NumberFormat format,
    const std::function<std::int64_t(std::string_view)>& at);

}  // namespace roofcast::calibrate
