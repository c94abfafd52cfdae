// SPDX-License-Identifier: Apache-2.0
//
// The parts of one optimizer step and of one step of RL post-training.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/training_footprint.hpp"
#include "models/uncertainty.hpp"

namespace roofcast::sim {

// The work of one data-parallel rank in an optimizer step.
struct MicroBatches {
  std::int64_t count = 0;
  std::int64_t sequences = 0;  // in each micro-batch
  std::int64_t tokens = 0;     // in each sequence
};

struct TrainingStep {
  base::Seconds time;           // of the optimizer step
  base::Seconds forward;        // forward pass of one micro-batch on the slowest stage
  base::Seconds backward;       // its backward pass, recompute included
  base::Seconds forward_alone;  // the same where no other micro-batch hides exchanges with experts
  base::Seconds backward_alone;
  base::Seconds waits;             // of both, for the host
  base::Seconds weight_gradients;  // a part of it, for which no other stage waits
  base::Seconds sends;             // exposed time of its transfers between stages
  base::Seconds within;            // exposed time of its exchanges of gradients and parameters
  base::Seconds passes;            // of all micro-batches, with the trainer's slowdown
  base::Seconds alone;             // of the passes: exchanges with experts that nothing hides there
  base::Seconds straggler;         // of the passes: the mean stage waits for the slowest one
  base::Seconds bubble;            // pipeline bubble
  base::Seconds jitter;            // ranks wait for the slowest one
  base::Seconds
      gradients;  // exposed time of the exchange of gradients and parameters, after the passes
  base::Seconds exchange;   // the same, and within them
  base::Seconds optimizer;  // update of the parameters
  base::Seconds host;       // host time
  double clock = 1.0;       // share of the full clock, in the passes
  // FLOP of the global batch on all ranks. Recompute is not counted.
  double model_flop = 0;
  double tokens = 0;                     // of the global batch
  base::FlopsPerSecond model_flop_rate;  // of one rank
  double utilisation = 0;                // model FLOP over the peak of all ranks (MFU)
  // Of one rank, over its passes. NaN if the TDP is not known.
  base::Joules energy_above_idle;
  models::TrainingFootprint footprint;
  models::Spread operators_spread;  // 90 % interval, from the errors of operators
};

// The parts of one step of RL post-training (sim/training/post_training.hpp).
struct PostTrainingStep {
  base::Seconds time;
  base::Seconds rollout;
  base::Seconds logprobs;
  base::Seconds training;  // all optimizer steps
  base::Seconds refit;
  base::Seconds host;  // switching between rollout and training; 0 if each has its own GPUs
  double optimizer_steps = 1;
  double response_tokens = 0;  // tokens that the rollout generates
  double rollout_gpus = 0;
  double training_gpus = 0;
  base::Seconds trained() const { return logprobs + training; }
};

// Shares of the time of a run.
struct RunShares {
  double useful = 0;
  double stragglers = 0;
  double stalls = 0;  // for checkpoints
  double lost = 0;    // computed again
  double down = 0;    // detection and restarts
  double spares = 0;  // waiting for a host, or slower without it
  double evaluation = 0;
  double maintenance = 0;  // planned
  double start_up = 0;
};

// How a training run went, or goes on average.
struct RunOutcome {
  base::Seconds time;        // from the first to the last step
  double interruptions = 0;  // unplanned
  RunShares shares;
};

// Checkpoints nearer than storage.
struct CheckpointTier {
  const char* place;
  double recovers = 0;     // share of the failures that go on from there
  base::Seconds interval;  // useful time
};

// What one spare host more would save of a run; the host costs too.
struct SpareHost {
  base::Seconds time;
  double usd = 0;  // NaN if the price is not known
};

// A whole training run (sim/training/training_run.hpp).
struct TrainingRunEstimate {
  base::Seconds ideal;  // if nothing stopped it
  double tokens = 0;    // that are trained; of a run with `days`, on average
  // Of a run with `days`, NaN of others: so many or more train half of the runs, and 19 of 20.
  double tokens_p50 = 0;
  double tokens_p5 = 0;
  RunOutcome mean;
  base::Seconds p50;
  base::Seconds p95;
  base::Seconds between;         // mean time between failures of the job; infinite without any
  base::Seconds step;            // with its share of stragglers and evaluation
  base::Seconds interval;        // useful time between checkpoints in storage
  base::Seconds best_interval;   // the one with the most progress
  base::Seconds young_interval;  // what textbooks give for it (sim/training/run_model.hpp)
  base::Seconds daly_interval;
  base::Seconds availability_interval;
  std::vector<CheckpointTier> tiers;  // the nearest first
  double planned_stops = 0;
  std::optional<SpareHost> spare;  // none where there is always a spare
  base::Bytes checkpoint;
  double gpu_hours = 0;  // spare hosts included
  double usd = 0;        // NaN if the price is not known
  base::Joules energy;   // of the GPUs; NaN if the TDP is not known
  double co2_t =
      0;  // of the electricity of GPUs, hosts and site; NaN if a price or a power is not known
};

// The result of a scenario that trains.
struct Workflow {
  TrainingStep training;  // one optimizer step
  std::optional<PostTrainingStep> post_training;
  std::optional<TrainingRunEstimate> run;
  // A step of a run: of RL if there is one, with all its optimizer steps.
  base::Seconds step() const { return post_training ? post_training->time : training.time; }
  double step_tokens() const {
    return (post_training ? post_training->optimizer_steps : 1.0) * training.tokens;
  }
};

}  // namespace roofcast::sim
