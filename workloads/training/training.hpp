// SPDX-License-Identifier: Apache-2.0
//
// The `training:` section: one optimizer step over a global batch.
//
//   training:
//     global_batch: 512             # sequences
//     sequence_length: 4096
//     micro_batch: 1                # sequences a data-parallel rank computes at once
//     virtual_stages: 2             # chunks of layers a pipeline rank has (interleaved 1F1B)
//     recompute: none               # or attention, full
//     sharding: optimizer           # or none, parameters (FSDP)
//     gradients: fp32               # what data-parallel ranks add up; or bf16
//     overlap: true                 # gradients and parameters travel while kernels compute
//     trainer: megatron
//
// `deployment:` is that of the training. data_parallel ranks are replicas that add up their gradients. What
// expert_parallel leaves of tensor × context × data are replicas of the experts.
#pragma once

#include "base/document/catalog.hpp"
#include "base/document/fields.hpp"
#include "base/units/quantity.hpp"
#include "workloads/architecture/mapping.hpp"
#include "workloads/graph/training_graph.hpp"

namespace roofcast::workloads {

// Which states data-parallel ranks share instead of holding copies (ZeRO, arXiv 1910.02054): none, those of the
// optimizer (stage 1), or also gradients and parameters (stage 3, FSDP).
enum class Sharding : std::uint8_t { none, optimizer, parameters };

// The software around the kernels. Its figures are fitted.
struct Trainer {
  std::string id;
  std::string name;
  // Factor on the time of kernels: stragglers, jitter, kernels that are not counted.
  double slowdown = 1.0;
  base::Seconds operator_time;  // host time of an operator; counts where its kernels are shorter
  base::Seconds step_overhead;  // host time of an optimizer step: data, logging, norms
  // In addition in a step of post-training where rollouts and training take turns on the same GPUs.
  base::Seconds switch_overhead;
};

struct Training {
  std::int64_t global_batch = 0;  // sequences; 0: the scenario does not train
  std::int64_t sequence_length = 0;
  std::int64_t micro_batch = 1;
  std::int64_t virtual_stages = 1;
  Recompute recompute = Recompute::none;
  Sharding sharding = Sharding::optimizer;
  double gradient_bytes = 4.0;
  bool overlap = true;
  Trainer trainer;

  bool trains() const { return global_batch > 0; }
};

// The mapping of the graph in training: a rank that has an expert has all of it.
Mapping training_mapping(const Architecture& model, Mapping mapping);

void read(base::Fields& f, Trainer& trainer);
void read(base::Fields& f, Training& training);

base::Catalog trainer_catalog();

}  // namespace roofcast::workloads
