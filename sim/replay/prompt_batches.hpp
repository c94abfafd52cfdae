// SPDX-License-Identifier: Apache-2.0
//
// Time to compute prompts whose batches are given (base/packing.hpp), one batch after the other, with nothing cached
// and no decodes.
//
//   sᵢ = max(sᵢ₋₁ + pᵢ₋₁, eᵢ₋ₘ)        eᵢ = sᵢ + lᵢ        T = max eᵢ        as in the simulator
//
//   symbol  meaning                                                                             unit
//   m       pipeline stages: so many iterations are on their way at once                        –
//   pᵢ, lᵢ  period and latency of iteration i: the slowest of its batches, one for each
//           attention-DP rank                                                                   s
//   sᵢ, eᵢ  its start and its end                                                               s
//   T       time of all                                                                         s
//
// Linear layers take the tokens of a batch, attention takes each prompt alone: S unequal prompts count as S equal ones
// that attend to as many tokens (Iteration::cached in sim/iteration/iteration_table.hpp, whose errors are those of the
// result). One replica computes all batches. Of two pools it is a replica of the prefill pool.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/iteration/draft_model.hpp"
#include "sim/iteration/replica_iterations.hpp"
#include "sim/scenario/pools.hpp"

namespace roofcast::sim {

// Prompts of these lengths, in tokens, as one rank computes them in an iteration. There is at least one.
Iteration iteration_of(std::span<const std::int64_t> prompts);

class PromptBatches {
 public:
  // What `scenario` points to outlives it.
  explicit PromptBatches(const ScenarioView& scenario);

  // Limits of an iteration on one attention-DP rank.
  std::int64_t most_tokens() const { return view_.serving->limits.max_tokens_per_iteration; }
  std::int64_t most_sequences() const { return view_.serving->limits.max_sequences; }

  // Why the engine cannot compute a batch of so many tokens with a prompt as long as `longest`; empty if it can.
  std::string misfit(std::int64_t tokens, std::int64_t longest) const;

  struct Times {
    std::vector<base::Seconds> batches;  // latency of the iteration that each batch is in
    base::Seconds all;                   // T
  };
  Times times(std::span<const Iteration> batches);

 private:
  std::unique_ptr<const DraftModel> draft_;
  ScenarioView whole_;
  std::optional<PoolScenarios> pools_;
  ScenarioView view_;
  ReplicaIterations iterations_;
};

}  // namespace roofcast::sim
