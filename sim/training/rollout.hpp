// SPDX-License-Identifier: Apache-2.0
//
// Time that a replica takes to generate answers that are all wanted at once. Its batch is full at first. It empties
// until only the longest answer runs.
//
// Answers run as the scheduler of sim/replay/scheduler.hpp lets them, first come, first served: as many as max_sequences
// allows and the KV cache holds. Where the cache is full, the answer that was admitted last is preempted. It is admitted
// again before any other, and its context is computed again. Prompts and such contexts are computed in the rest of the
// budget of iterations that decode too, or in iterations of their own, as the stack does.
//
// Samples of a prompt start one after another. The first one on an attention-DP rank computes the prompt, the others its
// last token only. The rank's KV cache holds it once for all that run. A sample that is admitted again finds it only if
// another one runs.
//
// An iteration with prompts is an event of its own. Between other events the batch is constant, so the time is a sum:
//
//   time = Σ (tokens until the next event) / (tokens per iteration) · t(batch, mean context) + Σ t(batch with prompts)
//
// t is the time in which each answer has an iteration. With p pipeline stages the batch is cut into p groups, one on each
// stage, so t = max(latency, Σ period of each group). The times are those of sim/iteration/iteration_table.hpp.
#pragma once

#include <cstdint>
#include <span>

#include "sim/iteration/iteration_table.hpp"

namespace roofcast::sim {

// The rollouts of one deployment. Times of iterations are cached.
class Rollout {
 public:
  // `scenario` is that of one replica, with its draft model set. Its targets must outlive the rollout. `capacity` is the
  // number of tokens that the KV cache of one attention-DP rank holds.
  Rollout(const ScenarioView& scenario, double capacity);

  // Time from the first prompt to the last token. `samples` successive answers share a prompt.
  base::Seconds time(std::span<const std::int64_t> lengths, std::int64_t prompt_tokens,
                     std::int64_t samples);

 private:
  class Queue;

  // Time in which each answer has one iteration. `all` is what all ranks and stages compute then.
  base::Seconds round(const Iteration& all);

  const ScenarioView& scenario_;
  const double capacity_;
  IterationTable iterations_;
};

}  // namespace roofcast::sim
