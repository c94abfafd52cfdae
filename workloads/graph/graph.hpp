// SPDX-License-Identifier: Apache-2.0
//
// The operators one rank runs for one iteration of a serving engine.
//
// An iteration is a mixed batch: decoding sequences and, beside them, chunks of prompts. Linear
// layers see all tokens at once; attention is separate for the two. All layers of the model are in
// the graph, collapsed by kind; the caller divides by pipeline stages.
#pragma once

#include "workloads/architecture/architecture.hpp"
#include "workloads/architecture/expert_load.hpp"
#include "workloads/architecture/mapping.hpp"
#include "workloads/architecture/precision.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::workloads {

// The batch of one attention-DP rank.
struct Batch {
  std::int64_t decode_sequences = 0;
  std::int64_t query_tokens = 1;  // a decoding sequence's tokens in this iteration
  std::int64_t context = 0;       // mean cached tokens of a decoding sequence
  std::int64_t prefill_sequences = 0;
  std::int64_t prefill_tokens = 0;  // new prompt tokens of each in this iteration
  std::int64_t cached_tokens = 0;   // of each, before this iteration

  std::int64_t tokens() const {
    return decode_sequences * query_tokens + prefill_sequences * prefill_tokens;
  }
  // Rows that need logits: every decode token, the last token of a prompt.
  std::int64_t logit_rows() const {
    return decode_sequences * (last_logits ? 1 : query_tokens) + prefill_sequences;
  }
  std::int64_t groups =
      0;  // attention-DP groups with such a batch, whose tokens share experts; 0 = all
  bool last_logits = false;  // a draft, which goes on from a sequence's last token only

  bool loss = false;  // of training: every token's logits, and their cross entropy

  friend bool operator==(const Batch&, const Batch&) = default;
};

// What the serving stack does to the graph.
struct Fusion {
  QuantiseFusion quantise = QuantiseFusion::none;
  AllReduceKernels custom_all_reduce = AllReduceKernels::library;
  bool norm = false;  // all-reduces of at most kFusedNormBytes add the residual and normalise
  bool alternative_experts = false;     // GroupedGemm::alternative_kernel
  bool shared_beside_dispatch = false;  // shared experts run while tokens are dispatched
};

// What InferenceX lets vLLM fuse between 8 ranks (SemiAnalysisAI/InferenceX@bb4c7f9
// benchmarks/70b_fp8_b200_docker.sh); 2 and 4 may fuse more.
inline constexpr double kFusedNormBytes = 8e6;

// Appends nothing and allocates nothing when `graph` has the capacity of an earlier call.
void build_graph(const Architecture& model, const Precision& precision, const Mapping& mapping,
                 Fusion fusion, const Batch& batch, Graph& graph);

}  // namespace roofcast::workloads
