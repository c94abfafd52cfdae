// SPDX-License-Identifier: Apache-2.0
//
// Times of iterations by their content, for the closed forms: decodes at their mean context, and units of prompt tokens.
//
// A unit is a prompt of the mean length, a part of one where lengths vary or prompts are cut, or several where many
// arrive in an iteration. Times between the numbers of decodes and of units that are timed are linear.
//
//   symbol   meaning                                                                            unit
//   D        sequences that decode, in a micro-batch of each attention-DP rank                  –
//   B        tokens of an iteration that D decodes leave to prompts, on one rank                tokens
//   u        tokens of a unit                                                                   tokens
//   k        most units of an iteration: B/u on each rank, whole prompts where they are not cut –
//   T(s)     period of an iteration with D decodes and s units; prompts alone where the
//            scheduler runs them first                                                          s
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/queueing/batch_queue.hpp"
#include "sim/iteration/iteration.hpp"

namespace roofcast::sim {

// Iterations with D decodes and prompts.
struct PromptIterations {
  std::vector<base::Seconds> times;  // T(0) to T(k)
  std::vector<double> sizes;         // probability that a prompt has 0, 1, 2, … units
  std::vector<base::queueing::SizedRequest> requests;  // prompts in units, unrounded, with weights
  double latency = 0;  // latency over period of an iteration with one prompt: pipeline stages
  double units = 1;    // mean units of a prompt
  bool whole = true;   // k units fill the budget; else k is a limit of this table
};

class IterationCosts {
 public:
  // The targets of `scenario`, and `workspace`, must outlive it.
  IterationCosts(const ScenarioView& scenario, Workspace& workspace);

  IterationTime decode(double decodes) { return decode(decodes, s_.mapping->data_parallel); }
  // The same where the tokens are those of so many ranks.
  IterationTime decode(double decodes, std::int64_t groups);
  // What a token more of each sequence's context adds to its latency, at least nothing. Nothing is told of stages.
  base::Seconds context_token(std::int64_t decodes);
  double context() const { return static_cast<double>(context_); }
  // `together` is the mean number of prompts of an iteration: it sets the unit.
  PromptIterations with_prompts(double decodes, double together);
  // Whether prompts run in iterations of their own.
  bool prompts_first() const;

  workloads::Batch decode_batch(std::int64_t decodes) const;
  // A batch with `count` prompts of the mean length. If such a prompt is cut: with one of its chunks.
  workloads::Batch prompt_batch(std::int64_t decodes, std::int64_t count) const;
  // A batch with so many prompts of the mean length on all ranks. If such a prompt is cut: with one of its chunks.
  workloads::Batch prompts_of(std::int64_t decodes, double count) const {
    return batch(decodes, count * prompt_);
  }
  IterationTime time(const workloads::Batch& batch);

 private:
  double budget(std::int64_t decodes) const;
  workloads::Batch batch(std::int64_t decodes, double tokens) const;

  ScenarioView s_;
  Workspace& workspace_;
  std::int64_t context_;  // tokens, mean context of a decode
  double prompt_;         // tokens, mean new tokens of a prompt
  std::array<workloads::WeightedLength, workloads::kLengthNodes> inputs_;
  std::size_t input_count_;  // different values among inputs_
  std::map<std::pair<std::int64_t, std::int64_t>, IterationTime> decodes_;  // by groups, decodes
  std::map<std::int64_t, base::Seconds> context_tokens_;
  std::array<IterationTime, 4> floors_;  // least times by launches: with decodes, beyond graphs
};

}  // namespace roofcast::sim
