// SPDX-License-Identifier: Apache-2.0
//
// Counting: the least work that the shape of an operator asks for, on any hardware.
//
//   GEMM               2·m·n·k·batch FLOP, half of them with 2:4 sparse weights: products with zeros are none
//                      bytes of both operands and of the bf16 output, each once
//   grouped GEMM       2·pairs·n·k FLOP
//                      bytes of the weights of the distinct experts, of rows in and out
//   prefill attention  2·(qk + value)·heads·pairs FLOP; (query, key) pairs are causal or bidirectional, within the
//                      window
//                      bytes of Q, O and of the keys and values that any query can see
//   decode attention   the same; every query sees the whole context, or its window
//   index scores       2·heads·dim·pairs FLOP, causal pairs
//                      bytes of index keys and queries, of the fp32 scores written and read, of the top_k positions
//   scan               FLOP a token, in chunks of Q tokens
//                        state space: (Q+1)(key·key heads + value·heads) + 4·key·value·heads
//                          C·B and its product with X, the causal half; the state built and read
//                        delta rule: per head (Q+1)(3·key + 2·value) + 6·key·value + Q²/3
//                          K·K, Q·K and T·K, T·V and A·U, the causal half; W·S, Q·S and the state; the triangular
//                          inverse
//                        selective scan (Mamba-1): 8 a token and state element: the decay of its own (a product, an
//                          exponential), the input (2), the state (2), the output (2)
//                      bytes of tokens in and out, of one state read and written a sequence
//   update             6 (state space), 7 (delta rule) or 8 (selective scan) FLOP a token and state element
//                      bytes of the state, read once and written for each token
//   table lookup       an addition for each element of each row
//                      bytes of the distinct rows, of an 8-byte index a row and an 8-byte offset a bag, of the sums
//   collective         no FLOP
//                      bytes that this rank must send
//
// Symbols are the members of the operators (workloads/graph/operator.hpp); qk, value and key are head
// dimensions.
#pragma once

#include "base/units/quantity.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::models {

struct Work {
  base::Flops flop;
  base::Bytes bytes;    // to and from device memory
  base::Bytes message;  // sent to other ranks
};

// The (query, key) pairs of one sequence. Query i of n sees min(cached + i + 1, window) keys. With `chunked` it sees
// the keys since the last multiple of the window.
double causal_pairs(std::int64_t new_tokens, std::int64_t cached_tokens, std::int64_t window,
                    bool chunked = false);
// The same for any attention. Bidirectional attention over n tokens has n² pairs, or n·(2w + 1) − w·(w + 1) with a
// window of w < n tokens on each side.
double attended_pairs(const workloads::AttentionHeads& heads, std::int64_t new_tokens,
                      std::int64_t cached_tokens);

Work gemm_work(const workloads::Gemm& op);
Work grouped_gemm_work(const workloads::GroupedGemm& op);
Work prefill_attention_work(const workloads::PrefillAttention& op);
Work decode_attention_work(const workloads::DecodeAttention& op);
// The keys of `context` that a decoding query sees, on average: chunked attention may be at any place in its chunk.
double visible_keys(const workloads::AttentionHeads& heads, std::int64_t context);

Work index_scores_work(const workloads::IndexScores& op);
Work state_scan_work(const workloads::StateScan& op);
Work state_update_work(const workloads::StateUpdate& op);
inline constexpr double kWarpThreads = 32.0;
inline constexpr double kSectorBytes = 32.0;
// Sectors that one request of a warp takes from memory. What of them it does not need, nobody needs.
double sectors_of_request(const workloads::Elementwise& op);
Work elementwise_work(const workloads::Elementwise& op);
Work table_lookup_work(const workloads::TableLookup& op);
Work expert_routing_work(const workloads::ExpertRouting& op);
Work collective_work(const workloads::Collective& op);

Work work_of(const workloads::Operator& op);

}  // namespace roofcast::models
