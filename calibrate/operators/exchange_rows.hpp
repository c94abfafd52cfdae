// SPDX-License-Identifier: Apache-2.0
//
// Rows of deepep_ll.csv, deepep_normal.csv and trtllm_alltoall.csv, dispatch and combine of experts.
//
// Conventions of the measurements:
//   - DeepEP: 8 ranks a node, `num_token` tokens of each rank to `num_topk` experts; a row's time is
//     dispatch (fp8) and combine (bf16), what their kernels notify included. Low-latency mode sends every
//     copy, and both its kernels unpack or sum the rows received once all have sent; normal mode sends one
//     to each domain and rank, by kernels that keep to the SMs of the row
//   - TensorRT-LLM: each of moe_ep_size ranks has num_tokens tokens, and balanced routing takes one to
//     min(topk, ranks) of them, once each. alltoall_prepare exchanges the counts and goes through the
//     tokens one by one, 7 ns each (2 to 64 ranks). NVLinkTwoSided is staged, and a kernel of its own sums
//     all topk places of a token, absent ones too: as long for 2 ranks as for 64.
//     alltoall_combine_low_precision sends rows in the format of the experts, which that kernel unpacks.
//     NVLinkOneSided reads what it sums from the other ranks
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "workloads/graph/operator.hpp"

namespace roofcast::calibrate {

struct ExchangeRow {
  std::vector<workloads::Operator> operators;  // none where the row is not modelled
  double overhead_s = 0.0;                     // beside them
};

// `at` gives a whole number of the row by its column's name.
ExchangeRow exchange_row(std::string_view kind, std::string_view name, std::string_view kernel,
                         base::NumberFormat format,
                         const std::function<std::int64_t(std::string_view)>& at);

}  // namespace roofcast::calibrate
