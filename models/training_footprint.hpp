// SPDX-License-Identifier: Apache-2.0
//
// Device memory of the fullest rank in training. Ranks of one pipeline stage are alike; stages differ by their layers
// (workloads/training/pipeline_layout.hpp) and by the micro-batches in flight.
//
//   parameters   16 bits: the stage's layers ÷ tensor_parallel, its experts ÷ expert_parallel, its part of embedding or
//                head. What is whole on every rank in serving, and copied, is so here too (models/footprint.hpp). Linear
//                layers that compute in FP8 or NVFP4 keep their weights twice more in that format, by rows for the
//                forward and by columns for the backward product; with `parameters: quantised` these only
//   gradients    in their own format; with `gradients` sharded, divided by the ranks that share them
//   optimizer    Adam: a copy in fp32 and two moments in their format, 12 bytes a parameter in fp32 (arXiv 1910.02054),
//                ÷ the ranks that share them; Muon: one moment of each matrix (workloads::moments). With `parameters`
//                sharded, parameters and gradients are divided by those ranks too, and one copy is kept
//   activations  models/training_activations.hpp, of the micro-batches in flight; behind the last layer 4·h bytes of the
//                final norm. With full recompute a layer keeps its input. Offloaded layers keep nothing, one on its way
//                excepted
//   workspace    the larger of
//                  a layer's backward pass: its gradients in flight, and with full recompute its activations
//                  the loss: 2 bytes a logit (6 if it is not fused: 16 bits, and fp32), 4·h bytes of the head's gradients
//                and  an empty 16-bit gradient for each shape of weights whose gradient its kernel adds up itself: one
//                     layer's, one expert's and the head's (NVIDIA/TransformerEngine get_dummy_wgrad;
//                     MooreThreads/SimuMax@4dcaae5 docs/b200)
//                     With LoRA there is none: parameters that are not trained have neither gradients nor optimizer states
//                and  with `gradients` sharded, the largest layer's, before they are scattered
//                or   with `parameters` sharded, the largest layer or head: gathered twice, for itself and the next
//                     one, and its gradient
//
// The allocator's fragments, NCCL's and the context's memory are not in it.
#pragma once

#include "base/units/quantity.hpp"
#include "workloads/architecture/precision.hpp"
#include "workloads/training/training.hpp"

namespace roofcast::models {

struct TrainingFootprint {
  base::Bytes parameters;
  base::Bytes gradients;
  base::Bytes optimizer;
  base::Bytes activations;
  base::Bytes workspace;
  std::int64_t stage = 0;  // the fullest, from 0
  base::Bytes total() const { return parameters + gradients + optimizer + activations + workspace; }
};

// Parameters of the rank that has most, of those that are trained.
// Of both stages of a rank of DualPipe.
struct RankParameters {
  double dense = 0;    // all ranks of data and context parallelism hold copies of these
  double experts = 0;  // mapping.expert_replicas ranks hold copies of these
  double tables = 0;   // of dense: embedding and head
  // In the format in which ranks send them to each other: 16 bits, or with `parameters: quantised` that of the layer.
  base::Bytes dense_sent, experts_sent;
  double total() const { return dense + experts; }
};
RankParameters rank_parameters(const workloads::Architecture& model,
                               const workloads::Mapping& mapping,
                               const workloads::Precision& precision,
                               const workloads::Training& training);

// `mapping`: training_mapping of the deployment. `tokens`: tokens of one micro-batch.
TrainingFootprint training_footprint(const workloads::Architecture& model,
                                     const workloads::Mapping& mapping,
                                     const workloads::Precision& precision,
                                     const workloads::Training& training, double tokens,
                                     std::int64_t micro_batches);

// Bytes that go to the host, and come back, for the offloaded layers of one micro-batch.
base::Bytes offloaded_bytes(const workloads::Architecture& model, const workloads::Mapping& mapping,
                            const workloads::Precision& precision,
                            const workloads::Training& training, double tokens);

}  // namespace roofcast::models
