// SPDX-License-Identifier: Apache-2.0
//
// Times of iterations by their content, for estimates: decodes at their mean context, and prompts of the mean length or
// chunks of them. Times between the numbers of decodes that are timed are linear.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>

#include "sim/iteration/iteration.hpp"

namespace roofcast::sim {

class IterationCosts {
 public:
  // The targets of `scenario`, and `workspace`, must outlive it.
  IterationCosts(const ScenarioView& scenario, Workspace& workspace);

  IterationTime decode(double decodes) { return decode(decodes, s_.mapping->data_parallel); }
  // The same where the tokens are those of so many ranks.
  IterationTime decode(double decodes, std::int64_t groups);
  // What a token more of each sequence's context adds to its latency, at least nothing.
  base::Seconds context_token(std::int64_t decodes);
  double context() const { return static_cast<double>(context_); }
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
  // What its GPUs take, and the least time of the host's launches where it has prompts and so many tokens on a rank.
  IterationTime of_gpus(const workloads::Batch& batch) {
    return iteration_time(s_, batch, workspace_);
  }
  const IterationTime& launches(bool decodes, double tokens) const {
    const bool beyond = tokens > static_cast<double>(s_.serving->stack.graph_tokens);
    return floors_[(decodes ? 2u : 0u) + (beyond ? 1u : 0u)];
  }

 private:
  double budget(std::int64_t decodes) const;
  workloads::Batch batch(std::int64_t decodes, double tokens) const;

  ScenarioView s_;
  Workspace& workspace_;
  std::int64_t context_;  // tokens, mean context of a decode
  double prompt_;         // tokens, mean new tokens of a prompt
  std::map<std::pair<std::int64_t, std::int64_t>, IterationTime> decodes_;  // by groups, decodes
  std::map<std::int64_t, base::Seconds> context_tokens_;
  std::array<IterationTime, 4> floors_;  // least times by launches: with decodes, beyond graphs
};

}  // namespace roofcast::sim
