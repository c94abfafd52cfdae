// SPDX-License-Identifier: Apache-2.0
//
// The parts of one optimizer step and of one step of RL post-training.
#pragma once

#include <cstdint>
#include <optional>

#include "models/training_footprint.hpp"

namespace roofcast::sim {

// What one data-parallel rank computes in a step.
struct MicroBatches {
  std::int64_t count = 0;
  std::int64_t sequences = 0;  // of each
  std::int64_t tokens = 0;     // of each sequence
};

struct TrainingStep {
  base::Seconds time;
  base::Seconds forward;   // of one micro-batch on the slowest stage
  base::Seconds backward;  // with what is computed again
  base::Seconds sends;     // of one micro-batch, exposed
  base::Seconds passes;    // of all micro-batches, stretched
  base::Seconds bubble;
  base::Seconds gradients;  // exposed, parameters too
  base::Seconds optimizer;
  base::Seconds host;
  double clock = 1.0;  // of the full one, in the passes
  double model_flop =
      0;  // of the global batch on all ranks; nothing is counted twice that is computed twice
  double tokens = 0;                     // of the global batch
  base::FlopsPerSecond model_flop_rate;  // of one rank
  double utilisation = 0;                // model FLOP over the peak of all ranks (MFU)
  base::Joules energy_above_idle;  // of one rank, over its passes; NaN where the TDP is not known
  models::TrainingFootprint footprint;
};

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

// What the estimate of a scenario that trains is made of.
struct Workflow {
  TrainingStep training;  // one optimizer step
  std::optional<PostTrainingStep> post_training;
  base::Seconds step() const { return post_training ? post_training->time : training.time; }
};

}  // namespace roofcast::sim
