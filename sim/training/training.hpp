// SPDX-License-Identifier: Apache-2.0
//
// One optimizer step: micro-batches go through a pipeline, gradients are added up, parameters are updated.
//
//   time = (m · (f + b + sends) + bubble) · slowdown · (1 + jitter) + exposed gradients and parameters + optimizer + host
//
//   symbol   meaning                                                                            unit
//   f, b     forward and backward pass (workloads/graph/training_graph.hpp) of one micro-batch
//            on the slowest pipeline stage                                                      s
//   p        pipeline stages                                                                    –
//   m        micro-batches of a data-parallel rank                                              –
//   v        chunks of layers of a stage                                                        –
//   slowdown the trainer's factor                                                               –
//   jitter   sim/training/jitter.hpp                                                            –
//
//   f, b       Each stage has the layers that the layout gives it; without one, chunks have as many as each other. The last
//              stage has the head besides. A pass takes at least as long as the host needs to launch its operators, and as offloaded
//              activations need on the chip's link to its host. The clock is what the chip's power allows.
//   bubble     1f1b         (p−1 + (v−1)·n)/v · (f + b)   GPipe and 1F1B; interleaved if v > 1 (arXiv 2104.04473)
//              zero_bubble  (p−1) · (f + b − 2w) + n·w    w: gradients of weights in b (H1, arXiv 2401.10241)
//                           n = max(0, p−m), of the timeline (pipeline.hpp): micro-batches too few to fill the pipeline
//              zb_v         (p−1)/2 · max(f, i, 2i−2w) + (p−2)/2 · max(0, f−i), i = b−w: of the timeline (pipeline.hpp),
//                           which is a little longer where f > i and w < i
//              dualpipe     (p/2−1) · (f + 2b − 3w)  arXiv 2412.19437 table 2; parameters and gradients twice. There f + b
//                           is of a forward beside a backward pass, and the other b of one that is alone
//   sends      Activations and their gradients of a micro-batch, v times each. Overlapped with compute if interleaved.
//   gradients  Gradients are reduce-scattered and parameters gathered over data · context ranks, those of experts over
//              their replicas. If nothing is sharded, gradients are all-reduced. With overlap, everything except the
//              last layer is hidden behind the last backward and the first forward pass, as far as these are long
//              enough; the kernels of what is hidden take SMs from them. With v chunks, gradients of a chunk travel
//              beside the backward passes of the chunks that follow (NVIDIA/Megatron-LM
//              core/pipeline_parallel/schedules.py, grad_sync_func). Parameters are gathered beside one forward pass only, as the logs of MLPerf's steps
//              on 512 to 5,120 GB200 say. With `gradients` sharded, the backward pass of every micro-batch
//              scatters them. With
//              `parameters` sharded, both passes of every micro-batch gather them too. Both travel layer by layer.
//   optimizer  Reads the gradient, the fp32 parameter and two moments. Writes all of these except the gradient, and the
//              bf16 parameter. Muon has products besides (sim/training/newton_schulz.hpp).
//
// Collectives of tensor, context and expert parallelism are in f and b, exposed. With expert_overlap the exchanges with
// experts of one micro-batch travel while another computes (DualPipe, arXiv 2412.19437; Megatron's combined 1F1B). Of
// their time x in f + b = x + c is exposed max(x − c, n·x), n being the share of the SMs that the exchange's kernels take.
// A forward pass while the pipeline fills, and a backward pass while it empties, has no other beside it: all of x is
// exposed in those of the bubble of 1F1B, and in so many forward and so many backward passes besides:
//
//   1f1b, zero_bubble   ((v−1)·p + 1)/v        the first one and the last one, and interleaving's longer ends
//   dualpipe            p + 1                  of a rank in the middle
//
// With tensor_overlap those of tensor parallelism with sequence_parallel are cut into as many pieces as ranks and travel
// beside a product of a linear layer, the one before the reduce-scatter and the one after the all-gather
// (NVIDIA/TransformerEngine, userbuffers): one piece, or what is longer than the product, is exposed. With overlap of any kind
// the gradients of a layer's input are reduced beside the product of the gradients of its weights: of that time x
// max(x − c, n·x) is exposed (NVIDIA/TransformerEngine pytorch/module/linear.py).
//
// With `packed`, a sequence is texts of this length that attend to themselves. With `lora`, weights that are not trained have no
// gradients: a product of theirs has one other in the backward pass, and model FLOP are 4 a parameter and token.
//
// Modules that predict further tokens (training.mtp) run with the head, on the last stage.
#pragma once

#include <array>
#include <vector>

#include "sim/iteration/iteration.hpp"
#include "sim/result/serving_estimate.hpp"
#include "sim/result/training_step.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::sim {

// The forward pass of one micro-batch on one rank, with the loss. `mapping`: workloads::training_mapping.
// With `mean_rank`, experts' operators are those of the mean rank.
workloads::Graph forward_graph(const ScenarioView& scenario, const workloads::Mapping& mapping,
                               const MicroBatches& batches, bool mean_rank = false);

// The passes of one micro-batch through all stages, operator by operator, at the clock that power allows: what a rank of
// each stage runs, added up.
struct PassLines {
  const char* name;
  std::vector<OperatorLine> operators;
  base::Seconds waits;  // for the host
};
struct PassesOfMicroBatch {
  std::array<PassLines, 2> passes;  // forward and backward
  double clock = 1.0;
};
PassesOfMicroBatch training_passes(const ScenarioView& scenario, const MicroBatches& batches);

// The parts of one optimizer step.
TrainingStep training_step(const ScenarioView& scenario, const MicroBatches& batches,
                           CostCache* costs = nullptr);

// Time of the forward passes of all micro-batches, without backward passes: log-probabilities need these.
base::Seconds forward_passes(const ScenarioView& scenario, const MicroBatches& batches);

// The micro-batches of the section `training`.
MicroBatches micro_batches(const ScenarioView& scenario);

// Sets estimate.infeasible if the mapping or the layout does not divide the model, the precision is one of inference,
// there are too few chips, or memory is too small. It does not check that `batches` divide evenly.
void check_training(const ScenarioView& scenario, const MicroBatches& batches,
                    ServingEstimate& estimate);

// The forecast of a scenario that trains.
ServingEstimate training_estimate(const ScenarioView& scenario, Workspace& workspace);

}  // namespace roofcast::sim
