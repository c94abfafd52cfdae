// SPDX-License-Identifier: Apache-2.0
//
// Counting: the least work an operator's shape asks for, whatever the hardware.
//
//   GEMM              2·m·n·k·batch FLOP; bytes of both operands and the bf16 output, each once
//   grouped GEMM      2·pairs·n·k FLOP; weights of the distinct experts, rows in and out
//   prefill attention 2·(qk + value)·heads·pairs FLOP, pairs = causal, window-limited (query, key)
//   pairs;
//                     bytes of Q, O and the keys and values any query can see
//   decode attention  the same with every query seeing the whole (windowed) context
//   collective        no FLOP; bytes this rank must send
#pragma once

#include "base/quantity.hpp"
#include "workloads/operator.hpp"

namespace roofcast::models {

struct Work {
  base::Flops flop;
  base::Bytes bytes;    // to and from device memory
  base::Bytes message;  // sent to other ranks
};

// (query, key) pairs of one sequence: query i of n sees min(cached + i + 1, window) keys.
double causal_pairs(std::int64_t new_tokens, std::int64_t cached_tokens, std::int64_t window);

Work gemm_work(const workloads::Gemm& op);
Work grouped_gemm_work(const workloads::GroupedGemm& op);
Work prefill_attention_work(const workloads::PrefillAttention& op);
Work decode_attention_work(const workloads::DecodeAttention& op);
Work elementwise_work(const workloads::Elementwise& op);
Work expert_routing_work(const workloads::ExpertRouting& op);
Work collective_work(const workloads::Collective& op);

Work work_of(const workloads::Operator& op);

}  // namespace roofcast::models
