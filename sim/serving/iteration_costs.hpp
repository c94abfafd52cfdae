// SPDX-License-Identifier: Apache-2.0
//
// What passes cost by the requests that decode: what a steady state of random traffic is made of.
//
// Decodes are looked up between whole batches. A prompt's passes are told apart from the decodes they carry:
//
//   extra     time that the passes of a prompt take longer than passes without it; with a scheduler that runs
//             prompts first, all of their time, since decodes stand still
//   own       from the start of its first pass to its first token
//   φ(k)      what k prompts in one pass add, over what one does: on one rank they read weights once; on g
//             attention-DP ranks they run side by side, and the pass is as long as the longest,
//             φ(k) = φ₁(j) (1 + (M − 1)/√j), j = max(1, k/g), M the mean longest of min(k, g) prompts over their mean
//
// over the lengths' distribution. A prompt longer than what decodes leave of max_tokens_per_iteration is cut.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "sim/iteration/iteration.hpp"

namespace roofcast::sim {

struct IterationTime {  // s
  double latency = 0;
  double period = 0;
};

// Of the prompts of one scenario, beside so many decodes of a micro-batch.
struct PromptTimes {
  double own = 0;           // s, mean
  double own_square = 0;    // s², mean
  double extra = 0;         // s, mean
  double extra_square = 0;  // s², mean
  double iterations = 0;    // mean
  double fits = 0;          // chance that a pass with one prompt has room for another
};

// What the prompts of one pass add to it, in units of `extra`, by their mean number: Poisson about it.
class PromptGroup {
 public:
  PromptGroup() = default;
  // `together`: φ of 1, 2, … prompts; its last slope goes on. `scv` of one prompt's extra.
  PromptGroup(std::vector<double> together, double scv);
  struct Added {
    double mean = 0;
    double square = 0;
    double slope = 0;  // of the mean, by the number
  };
  Added at(double mean_number) const;
  double together(double number) const;  // φ, a line between numbers
  double last_slope() const;

 private:
  Added sum(double mean_number) const;
  std::vector<double> together_;
  double scv_ = 0;
  std::vector<Added> table_;  // at the squares of multiples of kPromptGroupStep
};

class IterationCosts {
 public:
  // what `scenario` points to and `workspace` outlive it.
  IterationCosts(const ScenarioView& scenario, Workspace& workspace);

  // Of `decodes` sequences in a micro-batch of each attention-DP rank, at their mean context.
  IterationTime decode(double decodes);
  PromptTimes prompts(double decodes);
  const PromptGroup& prompt_group(double decodes);

  workloads::Batch decode_batch(std::int64_t decodes) const;
  // With `count` prompts of the mean length, or the chunks that one is cut to.
  workloads::Batch prompt_batch(std::int64_t decodes, std::int64_t count) const;
  bool prompts_first() const;

 private:
  PromptTimes prompts_at(std::int64_t decodes);
  PromptGroup prompt_group_at(std::int64_t decodes);
  double longest_of(std::int64_t count) const;
  IterationTime time(const workloads::Batch& batch);
  workloads::Batch chunk(std::int64_t decodes, std::int64_t count, std::int64_t tokens,
                         std::int64_t cached, std::int64_t others = 0) const;

  const ScenarioView& s_;
  Workspace& workspace_;
  std::int64_t context_;  // mean of a decode
  std::array<workloads::WeightedLength, workloads::kLengthNodes> inputs_;
  std::size_t input_count_;  // of inputs_ that differ
  std::map<std::int64_t, IterationTime> decodes_;
  std::map<std::int64_t, PromptTimes> prompts_;
  std::map<std::int64_t, PromptGroup> prompt_groups_;
};

}  // namespace roofcast::sim
