// SPDX-License-Identifier: Apache-2.0
//
// Device memory of the fullest rank in training (a rank of the first pipeline stage).
//
//   parameters   bf16: the rank's layers ÷ tensor_parallel, its experts ÷ expert_parallel, its share of
//                embedding and head
//   gradients    in their own format
//   optimizer    Adam: 12 bytes a parameter (fp32 copy and two moments; arXiv 1910.02054), ÷ the ranks that
//                share them. With `parameters` sharded, parameters and gradients are divided by those ranks too
//   activations  what the backward pass reads, 16 bits an element, for each token and layer:
//                  mixer    its input, the normalised input, queries, keys, values, output
//                  mlp      its input, the normalised input, the output of the widening layer, the activation
//                  experts  the same for each of the top_k experts, with their inputs, and for shared experts
//
// Tensor parallelism does not cut the inputs and normalised inputs; sequence_parallel does. A layer as wide
// as GPT-3's keeps 32·hidden bytes a token: the 34 of arXiv 2205.05198 without two dropout masks. Fused
// attention kernels keep no scores. With full recompute a layer keeps its input only, and one layer at a time
// is computed again.
//
// A rank of the first stage holds the activations of several micro-batches, at most of all:
//
//   1F1B          p micro-batches in its layers
//   interleaved   p · (1 + (p−1)/(p·v)) micro-batches in its layers      p stages, v virtual stages a rank
//
// Logits are kept, in 16 bits and in fp32, where one rank has all stages.
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
  double dense = 0;    // all ranks of data and context parallelism hold copies of these
  double experts = 0;  // mapping.expert_replicas ranks hold copies of these
  double total() const { return dense + experts; }
};
RankParameters rank_parameters(const workloads::Architecture& model,
                               const workloads::Mapping& mapping);

// Bytes of activations that one rank keeps for one token of a layer.
double kept_bytes(const workloads::Architecture& model, const workloads::LayerGroup& layer,
                  const workloads::Mapping& mapping, workloads::Recompute recompute);

// `mapping`: training_mapping of the deployment. `tokens`: tokens of one micro-batch.
TrainingFootprint training_footprint(const workloads::Architecture& model,
                                     const workloads::Mapping& mapping,
                                     const workloads::Training& training, double tokens,
                                     std::int64_t micro_batches);

}  // namespace roofcast::models
