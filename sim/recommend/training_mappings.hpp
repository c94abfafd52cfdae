// SPDX-License-Identifier: Apache-2.0
//
// How a model can be trained on a number of GPUs: mappings, and the settings that go with them.
//
//   TP     powers of two inside a scale-up domain, with sequence_parallel
//   CP     powers of two; a rank has 1,024 tokens of a sequence, or more
//   PP     powers of two up to 64
//   EP     powers of two among the ranks of a stage, for models with experts
//   DP     what is left of the GPUs
//   VP     chunks of a rank, with 1f1b: those that divide the layers evenly, or layers, embedding and loss, of which these two
//          then count as a layer each; and micro-batches are a multiple of the stages. One chunk also with as many layers
//          less on the last stage as the head has parameters of
//   micro  micro-batches of 1, 2, 4 and 8 sequences
//   again  what is computed again: nothing, all modules but attention and exchanges, or everything
//
// What does not divide the batch is left out here; what does not divide the model, or has no place in memory, the forecast
// refuses. Everything else is the scenario's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/document/node.hpp"
#include "sim/scenario/scenario.hpp"

namespace roofcast::sim {

struct TrainingChoice {
  workloads::Mapping mapping;
  std::int64_t micro_batch = 1;
  std::int64_t virtual_stages = 1;
  std::string layout;  // as Megatron writes it; empty: even
  workloads::Recompute recompute;
};

// All choices for so many GPUs. `scenario` trains.
std::vector<TrainingChoice> training_choices(const ScenarioView& scenario, std::int64_t gpus);

// "TP8 PP16 DP8"; sizes of 1 are not named but for TP.
std::string mapping_name(const workloads::Mapping& mapping);
// "none", "norms mlp", "full"
std::string recompute_name(const workloads::Recompute& recompute);

// What with_choice() sets or removes.
inline constexpr const char* kSearchedOfTraining[] = {
    "deployment.tensor_parallel", "deployment.context_parallel", "deployment.pipeline_parallel",
    "deployment.expert_parallel", "deployment.data_parallel",    "deployment.sequence_parallel",
    "training.micro_batch",       "training.virtual_stages",     "training.layout",
    "training.recompute",         "training.recompute_layers"};
// The scenario of a choice.
base::Node with_choice(const base::Node& document, const TrainingChoice& choice);

}  // namespace roofcast::sim
