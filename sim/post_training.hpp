// SPDX-License-Identifier: Apache-2.0
//
// One step of RL post-training: answers to prompts, their log-probabilities, optimizer steps, new weights for the engine.
//
//   synchronous      rollout + log-probabilities + training + refit + host
//   k steps off      max(rollout, log-probabilities + training) + refit + host, on GPUs of their own
//
//   rollout          of the replica that is last (sim/rollout.hpp): lengths are drawn, and the answers dealt out to
//                    the replicas in turn, those of a prompt together. k steps off, the answers of k steps are under way at once, and their longest
//                    hold up only one step in k
//   log-probabilities  forward passes of the training's mapping
//   training         optimizer steps of global_batch responses (sim/training.hpp), packed into
//                    micro-batches of sequence_length tokens (base/packing.hpp), padded to the fullest with pipeline stages
//   refit            all of the model's weights, in bf16 whatever the engine computes in, into every rank of it, through its own
//                    port: its NIC beyond one scale-up domain (parameters are gathered whole and each rank keeps its part)
//   host             colocated: engines put to sleep and woken, states moved out of the way and back, as the trainer was fitted
#pragma once

#include "sim/training.hpp"

namespace roofcast::sim {

struct PostTrainingStep {
  base::Seconds time;
  base::Seconds rollout;
  base::Seconds logprobs;
  base::Seconds training;  // all optimizer steps
  base::Seconds refit;
  base::Seconds host;          // none on GPUs of their own
  double response_tokens = 0;  // generated
  double rollout_gpus = 0;
  double training_gpus = 0;
  base::Seconds trained() const { return logprobs + training; }
};

ServingEstimate post_training_estimate(const ScenarioView& scenario, Workspace& workspace);

}  // namespace roofcast::sim
