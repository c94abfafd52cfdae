// SPDX-License-Identifier: Apache-2.0
//
// Counting: the least work an operator's shape asks for, whatever the hardware.
//
//   GEMM              2·m·n·k·batch FLOP; bytes of both operands and the bf16 output, each once
//   grouped GEMM      2·pairs·n·k FLOP; weights of the distinct experts, rows in and out
//   prefill attention 2·(qk + value)·heads·pairs FLOP, pairs = causal or bidirectional, window-limited (query, key)
//   pairs;
//                     bytes of Q, O and the keys and values any query can see
//   decode attention  the same with every query seeing the whole (windowed) context
//   index scores      2·heads·dim·pairs FLOP, pairs causal; bytes of index keys and queries, of the fp32
//                     scores written and read, of the top_k positions
//   scan, per token   state space, chunk Q: (Q+1)(key·key heads + value·heads) + 4·key·value·heads FLOP
//                     (C·B and its product with X, causal half; state built and read)
//                     delta rule: per head (Q+1)(3·key + 2·value) + 6·key·value + Q²/3 (K·K, Q·K and T·K,
//                     T·V and A·U, causal half; W·S, Q·S and the state; the triangular inverse)
//                     bytes of tokens in and out, of one state read and written a sequence
//   update, per token 6 (state space) or 7 (delta rule) FLOP a state element; the state read once and
//                     written for each token
//   table lookup      an addition an element of each row; bytes of the distinct rows, an 8-byte index a row and an offset
//                     a bag, the sums
//   collective        no FLOP; bytes this rank must send
#pragma once

#include "base/units/quantity.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::models {

struct Work {
  base::Flops flop;
  base::Bytes bytes;    // to and from device memory
  base::Bytes message;  // sent to other ranks
};

// (query, key) pairs of one sequence: query i of n sees min(cached + i + 1, window) keys; chunked, those
// since the last multiple of the window.
double causal_pairs(std::int64_t new_tokens, std::int64_t cached_tokens, std::int64_t window,
                    bool chunked = false);
// The same of any attention. Bidirectional, over n tokens: n², or n·(2w + 1) − w·(w + 1) within w < n on each side.
double attended_pairs(const workloads::AttentionHeads& heads, std::int64_t new_tokens,
                      std::int64_t cached_tokens);

Work gemm_work(const workloads::Gemm& op);
Work grouped_gemm_work(const workloads::GroupedGemm& op);
Work prefill_attention_work(const workloads::PrefillAttention& op);
Work decode_attention_work(const workloads::DecodeAttention& op);
// Keys a decoding query sees of `context`; chunked attention is at any place in its chunk.
double visible_keys(const workloads::AttentionHeads& heads, std::int64_t context);

Work index_scores_work(const workloads::IndexScores& op);
Work state_scan_work(const workloads::StateScan& op);
Work state_update_work(const workloads::StateUpdate& op);
Work elementwise_work(const workloads::Elementwise& op);
Work table_lookup_work(const workloads::TableLookup& op);
Work expert_routing_work(const workloads::ExpertRouting& op);
Work collective_work(const workloads::Collective& op);

Work work_of(const workloads::Operator& op);

}  // namespace roofcast::models
