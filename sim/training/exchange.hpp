// SPDX-License-Identifier: Apache-2.0
//
// What ranks send each other around the passes of an optimizer step: gradients and parameters between the replicas of a
// rank's part of the model, activations and their gradients between pipeline stages.
//
// Ranks have numbers, tensor parallelism innermost, and fill domains in their order. `training.rank_order` says what follows:
//
//   tp-cp-dp-pp   Replicas of a stage come one after another. Those in a domain share its NICs; stages are in other domains.
//   tp-cp-pp-dp   The stages of a replica come one after another. Where a replica fits into a domain, stages exchange
//                 activations inside it, and gradients leave it.
//
//   ranks in a domain of D that hold the same part of the model, of r = t·c·p ranks of a replica
//     tp-cp-dp-pp   D/t
//     tp-cp-pp-dp   c · ⌊D/r⌋ if r ≤ D, otherwise the least of c and D/t
//
//   symbol   meaning                       unit
//   t, c, p  tensor, context, pipeline     –
//            parallelism
//
// With DualPipe a stage is on two ranks of a pipeline, so there are twice as many replicas of it; these two ranks are in
// different domains unless the pipeline is in one.
//
// Both are orders of Megatron-LM (core/parallel_state.py; use_tp_pp_dp_mapping). It refuses the second one where the replicas
// of experts are others than those of attention. Llama 3 was trained in it (arXiv 2407.21783 section 3.3.2).
#pragma once

#include "models/training_footprint.hpp"
#include "sim/result/training_step.hpp"
#include "sim/scenario/scenario.hpp"
#include "workloads/architecture/mapping.hpp"

namespace roofcast::sim {

// Times to reduce the gradients, and to gather the parameters, over the replicas of one rank's part of the model.
struct Exchange {
  base::Seconds reduced, gathered;
};

// Whether gradients and parameters, and what stages send each other, leave the scale-up domain.
struct Leaves {
  bool exchange = false, sends = false;
};
Leaves leaves_domain(const ScenarioView& scenario, const workloads::Mapping& mapping);

// `layers`: of the fullest rank. Gradients or parameters that are sharded travel layer by layer, and those of embedding and
// head after them (the units of PyTorch's FSDP). Each of these exchanges has all the hops.
Exchange exchange_of(const ScenarioView& scenario, const workloads::Mapping& mapping,
                     const models::RankParameters& rank, double layers);

// The same of one of the stages of a rank.
Exchange exchange_of_stage(const ScenarioView& scenario, const workloads::Mapping& mapping,
                           const models::RankParameters& rank);

// Parameters whose optimizer states a rank keeps and updates.
double updated_parameters(const workloads::Training& training, const workloads::Mapping& mapping,
                          const models::RankParameters& rank);

// Layers of the fullest stage.
double stage_layers(const ScenarioView& scenario, const workloads::Mapping& mapping);

// Whether exchanges travel beside passes, and the share of the SMs that their kernels then take from these.
struct Beside {
  bool overlap = true;
  double taken = 0;
};

Beside beside_passes(const ScenarioView& scenario);

// The part of an exchange that a pass does not hide: at least the part of one layer, and of what it hides what the kernels
// of the exchange take from it.
base::Seconds exposed(base::Seconds exchange, base::Seconds pass, double layers,
                      const Beside& beside);

// The same of gradients, which travel once their chunk's last backward pass is over: beside the passes of the chunks before
// it.
//
//   chunks     of a stage      together   micro-batches that go through a chunk before the next one
base::Seconds exposed_gradients(base::Seconds exchange, base::Seconds backward, double layers,
                                double chunks, double together, const Beside& beside);

// Time of one transfer between stages: the activations of a micro-batch, or their gradients.
base::Seconds send_time(const ScenarioView& scenario, const MicroBatches& batches);

}  // namespace roofcast::sim
