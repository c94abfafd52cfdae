// SPDX-License-Identifier: Apache-2.0
//
// Device memory of the fullest rank of a training step (its first pipeline stage).
//
//   parameters   bf16: of the rank's layers ÷ tensor_parallel, its experts ÷ expert_parallel, its share of
//                embedding and head
//   gradients    in their own format
//   optimizer    Adam: 12 bytes a parameter (fp32 copy, two moments; arXiv 1910.02054), ÷ the ranks that share
//                them; with `parameters` sharded, all three are
//   activations  what the backward pass reads, 16 bits an element, a token and layer:
//                  mixer   its input and the normalised input, queries, keys, values, output
//                  mlp     its input and the normalised input, what the widening layer makes, the activation
//                  experts the same of each of its top_k experts, their inputs, and of shared experts
//                what is not cut by tensor_parallel is so only with sequence_parallel. A layer as wide as GPT-3's keeps 32·hidden bytes a token:
//                the 34 of arXiv 2205.05198 without two dropout masks; kernels that fuse attention keep no
//                scores. Recomputed in full, its input. A first stage holds min(micro-batches, stages) micro-batches of 1F1B,
//                1 + (p−1)/(p·v) times all its layers interleaved; logits in fp32 where one rank has all stages.
#pragma once

#include "base/units/quantity.hpp"
#include "workloads/training/training.hpp"

namespace roofcast::models {

struct TrainingFootprint {
  base::Bytes parameters;
  base::Bytes gradients;
  base::Bytes optimizer;
  base::Bytes activations;
  base::Bytes total() const { return parameters + gradients + optimizer + activations; }
};

// Parameters of the fullest rank.
struct RankParameters {
  double dense = 0;    // copies on the ranks of data and context parallelism
  double experts = 0;  // copies on mapping.expert_replicas ranks
  double total() const { return dense + experts; }
};
RankParameters rank_parameters(const workloads::Architecture& model,
                               const workloads::Mapping& mapping);

// Bytes kept of one token in a layer, whole and of one rank.
double kept_bytes(const workloads::Architecture& model, const workloads::LayerGroup& layer,
                  const workloads::Mapping& mapping, workloads::Recompute recompute);

// `mapping`: training_mapping of the deployment. `tokens` of one micro-batch, of which there are `micro_batches`.
TrainingFootprint training_footprint(const workloads::Architecture& model,
                                     const workloads::Mapping& mapping,
                                     const workloads::Training& training, double tokens,
                                     std::int64_t micro_batches);

}  // namespace roofcast::models
