// SPDX-License-Identifier: Apache-2.0
//
// Time that a replica takes to generate answers that are all wanted at once. Its batch is full at first. It empties
// until only the longest answer runs.
//
// As many answers decode at once as max_sequences allows and the KV cache holds. The others wait, first come, first
// served. If the cache is full, the answer that was admitted last is preempted. Its context is computed again later.
// Between two such events the batch is constant, so the time is a sum:
//
//   time = Σ (tokens until the next event) / (tokens per iteration) · t(batch, mean context) + prompts
//
// t is the time in which each answer has an iteration. With p pipeline stages the batch of n is cut into p groups, one on
// each stage, so t = max(latency(n/p), p · period(n/p)) of iteration_time. Prompts are computed in iterations of their own
// when their answers start, once for all samples of a prompt; they follow each other through the stages.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include "sim/iteration/iteration.hpp"

namespace roofcast::sim {

// The rollouts of one deployment. Times of iterations are cached.
class Rollout {
 public:
  // `scenario` is that of one replica, with its draft model set. `capacity` is the number of tokens that the KV cache
  // of one attention-DP rank holds.
  Rollout(const ScenarioView& scenario, double capacity, Workspace& workspace);

  // Time from the first prompt to the last token. `samples` successive answers share a prompt.
  base::Seconds time(std::span<const std::int64_t> lengths, std::int64_t prompt_tokens,
                     std::int64_t samples);

 private:
  // Time in which each of so many answers of a rank has one iteration.
  base::Seconds decode_round(std::int64_t sequences, double context);
  base::Seconds prompts(std::int64_t count, std::int64_t tokens);

  const ScenarioView& scenario_;
  const double capacity_;
  Workspace& workspace_;
  using Shape = std::pair<std::int64_t,
                          std::int64_t>;  // sequences; tokens of each, or place of their context
  std::map<Shape, base::Seconds> decodes_;
  std::map<Shape, base::Seconds> prompts_;
};

}  // namespace roofcast::sim
