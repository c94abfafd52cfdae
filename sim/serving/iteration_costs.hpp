// SPDX-License-Identifier: Apache-2.0
//
// Costs of iterations by the number of decodes: the parts of which a steady state of random traffic is made.
//
// Times of iterations with decodes alone are interpolated between whole batches. The time of a prompt is kept apart
// from the time of the decodes in the same iterations:
//
//   extra   time by which the iterations of a prompt are longer than iterations without it. If the scheduler runs
//           prompts first, all of their time, because decodes stand still
//   own     time from the start of the prompt's first iteration to its first token
//   φ(k)    time that k prompts add to one iteration, over that of one prompt. On one rank they read weights once. On g
//           attention-DP ranks they run side by side, and the longest one decides:
//
//             φ(k) = φ₁(j) · (1 + (M − 1)/√j),   j = max(1, k/g)
//
//   symbol   meaning                                                                            unit
//   k        prompts of one iteration                                                           –
//   g        attention-DP ranks                                                                 –
//   j        prompts of one rank                                                                –
//   φ₁(j)    φ if all prompts have the mean length                                              –
//   M        mean longest of min(k, g) prompts, over their mean length                          –
//
// All are means over the distribution of input lengths. A prompt is cut if it is longer than the part of
// max_tokens_per_iteration that decodes leave.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "sim/iteration/iteration.hpp"

namespace roofcast::sim {

// Times of a prompt in iterations with a given number of decodes. Means over the prompts of a scenario.
struct PromptTimes {
  double own = 0;           // s
  double own_square = 0;    // s², mean of the square
  double extra = 0;         // s
  double extra_square = 0;  // s², mean of the square
  double iterations = 0;    // iterations that a prompt needs
  double fits = 0;          // probability that an iteration with one prompt takes another
};

// Time that the prompts of one iteration add, over `extra`. Their number has a Poisson distribution with a given mean.
class PromptGroup {
 public:
  PromptGroup() = default;
  // `together` has φ of 1, 2, … prompts; its last slope is continued. `scv` is the squared coefficient of variation of
  // one prompt's extra.
  PromptGroup(std::vector<double> together, double scv);
  struct Added {
    double mean = 0;    // E[φ]
    double square = 0;  // E[φ²]
    double slope = 0;   // dE[φ]/d(mean number)
  };
  Added at(double mean_number) const;
  double together(double number) const;  // φ, linear between whole numbers
  double last_slope() const;

 private:
  Added sum(double mean_number) const;
  std::vector<double> together_;
  double scv_ = 0;
  std::vector<Added> table_;  // for the mean numbers (i · kPromptGroupStep)²
};

class IterationCosts {
 public:
  // The targets of `scenario`, and `workspace`, must outlive it.
  IterationCosts(const ScenarioView& scenario, Workspace& workspace);

  // `decodes` is the number of sequences in a micro-batch of each attention-DP rank, at their mean context.
  IterationTime decode(double decodes);
  PromptTimes prompts(double decodes);
  const PromptGroup& prompt_group(double decodes);

  workloads::Batch decode_batch(std::int64_t decodes) const;
  // A batch with `count` prompts of the mean length. If such a prompt is cut: with one of its chunks.
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
  std::int64_t context_;  // tokens, mean context of a decode
  std::array<workloads::WeightedLength, workloads::kLengthNodes> inputs_;
  std::size_t input_count_;  // different values among inputs_
  std::map<std::int64_t, IterationTime> decodes_;
  std::map<std::int64_t, PromptTimes> prompts_;
  std::map<std::int64_t, PromptGroup> prompt_groups_;
};

}  // namespace roofcast::sim
