// SPDX-License-Identifier: Apache-2.0
//
// One step of RL post-training: answers to prompts, their log-probabilities, optimizer steps, new weights for the
// engine.
//
//   synchronous          rollout + log-probabilities + training + refit + host
//   k steps off policy   max(rollout, log-probabilities + training) + refit + host; rollout and training have GPUs of
//                        their own
//
//   rollout            Time of the slowest replica (sim/training/rollout.hpp). Lengths are drawn. Answers are dealt out
//                      to the replicas in turn, those of one prompt together. With k steps off policy, the answers of
//                      up to k steps run at once, and their longest one delays only one step of these.
//   log-probabilities  Forward passes with the training's mapping.
//   training           Optimizer steps of global_batch responses (sim/training/training.hpp). Responses are packed into
//                      micro-batches of sequence_length tokens (base/packing.hpp). With pipeline stages they are padded
//                      to the fullest one.
//   refit              All weights of the model go to every rank of the engine through the rank's own port. They are
//                      bf16, whatever the engine computes in. Beyond one scale-up domain the port is the rank's NIC.
//                      Parameters are gathered whole; each rank keeps its part.
//   host               Colocated only: engines are put to sleep and woken, and states are moved away and back. The time
//                      is fitted for the trainer.
#pragma once

#include "sim/training/training.hpp"

namespace roofcast::sim {

// The forecast of a scenario with post-training.
ServingEstimate post_training_estimate(const ScenarioView& scenario);

}  // namespace roofcast::sim
