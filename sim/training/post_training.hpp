// SPDX-License-Identifier: Apache-2.0
//
// One step of RL post-training: answers to prompts, their log-probabilities, optimizer steps, new weights for the engine.
//
//   synchronous      rollout + log-probabilities + training + refit + host
//   k steps off      max(rollout, log-probabilities + training) + refit + host, on GPUs of their own
//
//   rollout          of the replica that is last (sim/training/rollout.hpp): lengths are drawn, and the answers dealt out to
//                    the replicas in turn, those of a prompt together. k steps off, the answers of k steps are under way at once, and their longest
//                    hold up only one step in k
//   log-probabilities  forward passes of the training's mapping
//   training         optimizer steps of global_batch responses (sim/training/training.hpp), packed into
//                    micro-batches of sequence_length tokens (base/packing.hpp), padded to the fullest with pipeline stages
//   refit            all of the model's weights, in bf16 whatever the engine computes in, into every rank of it, through its own
//                    port: its NIC beyond one scale-up domain (parameters are gathered whole and each rank keeps its part)
//   host             colocated: engines put to sleep and woken, states moved out of the way and back, as the trainer was fitted
#pragma once

#include "sim/training/training.hpp"

namespace roofcast::sim {

ServingEstimate post_training_estimate(const ScenarioView& scenario, Workspace& workspace);

}  // namespace roofcast::sim
