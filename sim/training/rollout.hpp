// SPDX-License-Identifier: Apache-2.0
//
// How long a replica takes to generate answers that are all wanted at once: its batch is full at first and empties
// towards the longest.
//
// As many answers decode at once as max_sequences allows and the KV cache holds, token by token; the others wait, first
// come, first served. Where the cache is full the answer that started last makes way, and its context is computed again
// later. Between two such events the batch is constant, so that time is a sum of
//   tokens until the next event / tokens a step · time of a step (iteration_cost) at that batch and its mean context
// and prompts are computed in passes of their own when their answers start, once for all samples of a prompt.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include "sim/iteration/iteration.hpp"

namespace roofcast::sim {

// Of one deployment; remembers what its steps take.
class Rollout {
 public:
  // `scenario`: of one replica, its draft derived; `capacity`: tokens that the KV cache of one attention-DP rank holds.
  Rollout(const ScenarioView& scenario, double capacity, Workspace& workspace);

  // From the first prompt to the last token. `samples` answers in a row share a prompt.
  base::Seconds time(std::span<const std::int64_t> lengths, std::int64_t prompt_tokens,
                     std::int64_t samples);

 private:
  base::Seconds decode_step(std::int64_t sequences, double context);
  base::Seconds prompts(std::int64_t count, std::int64_t tokens);

  const ScenarioView& scenario_;
  const double capacity_;
  Workspace& workspace_;
  using Shape = std::pair<std::int64_t, std::int64_t>;  // sequences, tokens of each
  std::map<Shape, base::Seconds> steps_;
  std::map<Shape, base::Seconds> passes_;
};

}  // namespace roofcast::sim
