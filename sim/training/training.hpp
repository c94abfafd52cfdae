// SPDX-License-Identifier: Apache-2.0
//
// One optimizer step: micro-batches through a pipeline, gradients added up, parameters updated.
//
//   t = (m + (p−1)/v) · (f + b + sends) · stretch + exposed gradients and parameters + optimizer + host
//
//   f, b      forward and backward pass (workloads/graph/training_graph.hpp) of one micro-batch on the slowest of p
//             pipeline stages, m micro-batches a data-parallel rank, v chunks of layers a stage. The last stage, which
//             has the head, may have fewer layers. Each at least what the host takes to launch its operators;
//             at the clock that the chip's power allows
//   bubble    (p−1)/v of a micro-batch: GPipe and 1F1B, v > 1 interleaved (arXiv 2104.04473)
//   sends     of a micro-batch's activations and their gradients, v times each; behind compute when interleaved
//   gradients reduce-scattered and parameters gathered over data · context ranks (the experts' over their replicas), or
//             gradients all-reduced where nothing is sharded. With overlap all but the last layer's passes behind
//             the last backward and the first forward pass, as far as those are long enough; with `parameters` sharded
//             both passes of every micro-batch gather them and the backward pass scatters gradients
//   optimizer reads gradient, fp32 parameter and two moments, writes all but the gradient and the bf16 parameter
//
// Collectives of tensor, context and expert parallelism are in f and b, exposed.
#pragma once

#include "sim/result/serving_estimate.hpp"
#include "sim/result/training_step.hpp"

namespace roofcast::sim {

TrainingStep training_step(const ScenarioView& scenario, const MicroBatches& batches);

// Forward passes alone, as log-probabilities need them.
base::Seconds forward_passes(const ScenarioView& scenario, const MicroBatches& batches);

// The micro-batches of the section `training`.
MicroBatches micro_batches(const ScenarioView& scenario);

// Whether the mapping divides, the chips are enough and memory holds it; sets estimate.infeasible. `batches`
// too many to divide evenly are not its matter.
void check_training(const ScenarioView& scenario, const MicroBatches& batches,
                    ServingEstimate& estimate);

ServingEstimate training_estimate(const ScenarioView& scenario);

}  // namespace roofcast::sim
