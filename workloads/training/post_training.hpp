// SPDX-License-Identifier: Apache-2.0
//
// The `rl:` section: RL post-training. `training` describes the training of its policy, `serving` the engine
// of its rollouts.
//
//   rl:
//     responses: 512                # of a step: prompts x samples
//     samples: 16                   # of each prompt, which is computed once
//     prompt_tokens: 110
//     response_tokens: {lognormal: {mean: 6000, cv: 0.6, max: 8192}}
//     rollout: {tensor_parallel: 8, replicas: 16}      # and the other keys of a deployment
//     placement: split              # or colocated, on the GPUs of the training
//     packing: by size              # or in order, as they came
//     off_policy_steps: 1           # 0: synchronous
//     logprob_passes: 2             # forward passes before training: of the policy, of a reference
//     seed: 1
//
// `training.global_batch` responses make an optimizer step. They are packed into micro-batches of
// `sequence_length` tokens.
#pragma once

#include "workloads/architecture/mapping.hpp"
#include "workloads/traffic/lengths.hpp"

namespace roofcast::workloads {

enum class Placement : std::uint8_t { colocated, split };

// How responses are packed into sequences (base/packing.hpp).
enum class Packing : std::uint8_t { by_size, in_order };

struct PostTraining {
  std::int64_t responses = 0;  // 0: the scenario has no post-training
  std::int64_t samples = 1;
  std::int64_t prompt_tokens = 0;
  Lengths response;
  Mapping rollout;  // of one replica of the rollout engine
  std::int64_t replicas = 1;
  Placement placement = Placement::colocated;
  Packing packing = Packing::by_size;
  std::int64_t off_policy_steps = 0;
  std::int64_t logprob_passes = 1;
  std::int64_t seed = 1;

  bool enabled() const { return responses > 0; }
  std::int64_t rollout_ranks() const { return replicas * rollout.ranks(); }
};

void read(base::Fields& f, PostTraining& rl);

}  // namespace roofcast::workloads
