// SPDX-License-Identifier: Apache-2.0
//
// The operators one rank runs for one iteration of a serving engine.
//
// An iteration is a mixed batch: decoding sequences and, beside them, chunks of prompts. Linear
// layers see all tokens at once; attention is separate for the two. All layers of the model are in
// the graph, collapsed by kind; the caller divides by pipeline stages.
#pragma once

#include "workloads/architecture.hpp"
#include "workloads/mapping.hpp"
#include "workloads/operator.hpp"
#include "workloads/precision.hpp"

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

  friend bool operator==(const Batch&, const Batch&) = default;
};

// What the serving stack does to the graph.
struct Fusion {
  QuantiseFusion quantise = QuantiseFusion::none;
  AllReduceKernels custom_all_reduce = AllReduceKernels::library;
  bool norm = false;  // all-reduces of at most kFusedNormBytes add the residual and normalise
};

// What InferenceX lets vLLM fuse between 8 ranks (SemiAnalysisAI/InferenceX@bb4c7f9
// benchmarks/70b_fp8_b200_docker.sh); 2 and 4 may fuse more.
inline constexpr double kFusedNormBytes = 8e6;

// Appends nothing and allocates nothing when `graph` has the capacity of an earlier call.
void build_graph(const Architecture& model, const Precision& precision, const Mapping& mapping,
                 Fusion fusion, const Batch& batch, Graph& graph);

// What one of `ranks` that share all experts gets of `tokens` tokens that each choose top_k of them.
struct ExpertLoad {
  double pairs = 0.0;     // of a token and an expert
  double distinct = 0.0;  // experts with a pair, or more
};

// Of the mean rank. An expert is hit by a token with probability p = top_k / experts on average; popularities
// are gamma distributed around it with the coefficient of variation v, so that
//   distinct = experts/ranks · (1 − (1 + tokens·((1−p)^(−v²) − 1))^(−1/v²)),    1 − (1−p)^tokens at v = 0
ExpertLoad mean_load(double tokens, std::int64_t top_k, std::int64_t experts, std::int64_t ranks,
                     double variation);

// Of the rank with most pairs, which the others wait for: the mean and as many standard deviations of the popularity of a
// rank's experts as the largest of so many normal numbers is expected to have. Chance adds more where pairs are
// few; distinct experts are the mean rank's, as in servers of few clients, which show no more.
ExpertLoad busiest_load(double tokens, std::int64_t top_k, std::int64_t experts, std::int64_t ranks,
                        double variation);

}  // namespace roofcast::workloads
