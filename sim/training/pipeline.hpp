// SPDX-License-Identifier: Apache-2.0
//
// The pipeline of an optimizer step, event by event: when each stage computes which micro-batch, and when it waits.
//
//   1f1b          A stage runs p − stage − 1 forward passes, then one forward and one backward pass in turn. With v chunks
//                 it runs 2·(p − stage − 1) + (v−1)·p of them first, p micro-batches in a chunk before the next chunk
//                 (arXiv 2104.04473; Megatron-LM, schedules.py). Of fewer than p micro-batches all are in a chunk before
//                 the next one, as Llama 3 was trained on many GPUs (arXiv 2407.21783 section 3.3.2); Megatron-LM refuses
//                 these.
//   zero_bubble   As 1f1b, but gradients of weights come later. Stage i computes them i micro-batches after their backward
//                 pass. They fill the last waits (H1 of arXiv 2401.10241)
//   dualpipe      Micro-batches enter at both ends. A rank has a stage and its mirror image. The order is that of
//                 deepseek-ai/DualPipe, dualpipe.py. A forward and a backward pass that run together end together
//
//   zb_v          A rank has a chunk and, of the other p, the one as far from the end. The order is that of PyTorch
//                 (torch/distributed/pipelining/schedules.py, ScheduleZBVZeroBubble), for equal f, b − w and w. All ranks end
//                 together, since an optimizer waits for the norm of all gradients: the first p − 1 passes of a chunk are
//                 waits even then. The paper's zero needs an optimizer that does not wait (its section 4)
//
// A forward pass before the first backward pass of a rank, and a backward pass after its last forward pass, is alone; of
// dualpipe, all that do not run together are.
//
// A pass waits for the same micro-batch on the stage before it, a backward pass for its forward pass too. All stages are as
// slow as the slowest one, as in the closed form (sim/training/training.hpp). Then a stage waits as long as the closed
// form's bubble. Only the formula of dualpipe is longer: by up to (p/2−1)·(b − w − f) where that is above 0.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/result/training_step.hpp"
#include "sim/scenario/scenario.hpp"

namespace roofcast::sim {

// What a micro-batch takes a stage with its sends: its passes beside those of another one, and without any.
struct StagePasses {
  base::Seconds both;
  base::Seconds alone, backward_alone;
  base::Seconds weights;  // gradients of weights in a backward pass
};

// The closed forms of sim/training/training.hpp. Time in which a stage waits in all:
base::Seconds pipeline_bubble(const workloads::Training& training, std::int64_t ranks,
                              std::int64_t micro_batches, const StagePasses& passes);
// Whether chunks of 1f1b, if there are several, can take turns: more micro-batches than stages come in whole groups of as
// many as stages (Megatron-LM, schedules.py, refuses others).
bool runs_in_groups(const workloads::Training& training, std::int64_t ranks,
                    std::int64_t micro_batches);
// Forward passes of a stage, and as many backward passes, for which it does not wait and that have no other micro-batch beside
// them.
double passes_alone(const workloads::Training& training, std::int64_t ranks,
                    std::int64_t micro_batches);

enum class PipelineWork : std::uint8_t { forward, backward, weights };

struct PipelineEvent {
  std::int64_t rank = 0;
  std::int64_t chunk = 0;        // of the rank; of dualpipe, 1 is its mirrored stage
  std::int64_t micro_batch = 0;  // of dualpipe, those that enter at the far end are the second half
  PipelineWork work = PipelineWork::forward;
  base::Seconds start, end;
};

struct PipelineTimeline {
  std::int64_t ranks = 0;
  std::int64_t chunks = 0;            // of a rank
  std::vector<PipelineEvent> events;  // of each rank in its order, rank after rank
  base::Seconds time;                 // of the last end
  base::Seconds waits(std::int64_t rank) const;
};

// What a micro-batch takes a rank, all its chunks together.
struct PipelinePasses {
  base::Seconds forward;
  base::Seconds backward;  // without gradients of weights where these are apart
  base::Seconds weights;   // 0: within the backward pass
  // By which they are longer without another micro-batch beside them.
  base::Seconds forward_alone = {};
  base::Seconds backward_alone = {};
};

PipelineTimeline pipeline_timeline(workloads::Schedule schedule, std::int64_t ranks,
                                   std::int64_t chunks, std::int64_t micro_batches,
                                   const PipelinePasses& passes);

// The timeline of a scenario's step. There is none
//
//   - with one stage
//   - where chunks take turns and more micro-batches than stages are no multiple of these: the software refuses it
//   - where zb_v has fewer micro-batches than 2p − 1
//   - where dualpipe has an odd number of micro-batches, or fewer than two for each rank: it refuses this too
//   - with more than kMostPipelineEvents
inline constexpr std::int64_t kMostPipelineEvents = 200'000;
std::optional<PipelineTimeline> pipeline_of(const ScenarioView& scenario, const TrainingStep& step,
                                            std::int64_t micro_batches);

}  // namespace roofcast::sim
