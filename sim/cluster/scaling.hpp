// SPDX-License-Identifier: Apache-2.0
//
// A training step on more GPUs: the scenario with more data-parallel ranks.
//
//   weak     global_batch grows with the ranks: every rank has the work that it had
//   strong   global_batch stays: every rank has less
//
// Tensor, pipeline, context and expert parallelism stay. The system gets the GPUs, and a run its spare hosts in
// proportion.
//
//   efficiency       tokens per second and GPU over those of the first count that runs
//   run efficiency   efficiency · effective training time: what is left after failures, restarts and checkpoints
//   exposed          time of the step in which ranks wait for gradients and parameters, over its time
//   jitter           time of the step in which they wait for the slowest one (training.jitter), over its time
//
// What makes weak scaling lose: the hops of collectives and jitter, which grow with the ranks, and failures. What makes strong scaling
// lose in addition: the bubble and exposed gradients, which stay. Errors: docs/scenarios/scale.md. Not modelled: a network
// that is slower between more hosts.
#pragma once

#include <cstdint>
#include <vector>

#include "base/document/node.hpp"
#include "sim/result/serving_estimate.hpp"

namespace roofcast::sim {

enum class Scaling : std::uint8_t { weak, strong };

inline constexpr std::int64_t kMostScaledGpus = 1 << 17;

struct ScaledStep {
  std::int64_t gpus = 0;
  base::Node document;  // the scenario on so many GPUs
  ServingEstimate estimate;
  double efficiency = 0;      // NaN where the step does not run
  double run_efficiency = 0;  // NaN without a run
  double exposed = 0;
  double jitter = 0;  // NaN without training.jitter
};

// The counts of GPUs that double from those of the scenario up to kMostScaledGpus.
std::vector<std::int64_t> doubled_gpus(const base::Node& document);

// Throws InputError if the scenario does not train, or a count is no multiple of the GPUs of a data-parallel rank.
std::vector<ScaledStep> scaled_steps(const base::Node& document,
                                     const std::vector<std::int64_t>& gpus, Scaling scaling);

}  // namespace roofcast::sim
