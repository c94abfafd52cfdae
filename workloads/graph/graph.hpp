// SPDX-License-Identifier: Apache-2.0
//
// The operators that one rank runs for one iteration of a serving engine.
//
// An iteration is a mixed batch: decoding sequences, and chunks of prompts at the same time. Linear layers
// compute all tokens at once. Attention has one kernel for decodes and one for prompts. All layers of the
// model are in the graph, collapsed by kind; the caller divides by pipeline stages.
#pragma once

#include "workloads/architecture/architecture.hpp"
#include "workloads/architecture/expert_load.hpp"
#include "workloads/architecture/mapping.hpp"
#include "workloads/architecture/precision.hpp"
#include "workloads/graph/fusion.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::workloads {

// The batch of one attention-DP rank.
struct Batch {
  std::int64_t decode_sequences = 0;
  std::int64_t query_tokens = 1;  // tokens of a decoding sequence in this iteration
  std::int64_t context = 0;       // mean cached tokens of a decoding sequence
  std::int64_t prefill_sequences = 0;
  std::int64_t prefill_tokens = 0;  // new tokens of each prompt in this iteration
  std::int64_t cached_tokens = 0;   // tokens of each prompt before this iteration

  std::int64_t tokens() const {
    return decode_sequences * query_tokens + prefill_sequences * prefill_tokens;
  }
  // Rows that need logits: every token of a decode, the last token of a prompt.
  std::int64_t logit_rows() const {
    return decode_sequences * (last_logits ? 1 : query_tokens) + prefill_sequences;
  }
  // Attention-DP groups with such a batch, whose tokens share experts; 0: all.
  std::int64_t groups = 0;
  // The experts' operators of the mean rank, not of the one with most pairs. Only to tell what waiting for that one costs.
  bool mean_rank = false;
  // A pass of a draft model, which needs the last token of a sequence only.
  bool last_logits = false;
  bool loss = false;  // training: logits of every token, and their cross entropy
  // Of training: tokens after the next that the model's modules predict.
  std::int64_t predicted_tokens = 0;

  friend bool operator==(const Batch&, const Batch&) = default;
};

// Tokens of a decoding sequence's context that one rank attends to.
std::int64_t decode_context(const Mapping& mapping, const Batch& batch);

// Replaces the calls of `graph`. Allocates nothing when `graph` has the capacity of an earlier call.
void build_graph(const Architecture& model, const Precision& precision, const Mapping& mapping,
                 Fusion fusion, const Batch& batch, Graph& graph);

}  // namespace roofcast::workloads
