// SPDX-License-Identifier: Apache-2.0
//
// Times of iterations with prompts from few costs, for estimates that ask for thousands of iterations of one replica.
//
// The parts are those of sim/iteration/iteration_table.hpp. Nodes are few, the context of decodes is the mean, and what
// several prompts in one iteration, or chunks of long ones, differ in is the number of pairs that they attend to:
//
//   t(D, N, A) = prompt(qD + N) + slope(qD + N) · (A − N²/2) + decodes(D, N)   where A < N²/2: several prompts
//              = prompt(qD + N) + prefix(N, K) + decodes(D, N)                 else, at least the time of the host's launches
//
//   symbol   meaning                                                                              unit
//   D        sequences that decode, and verify q tokens each                                      –
//   N        prompt tokens                                                                        tokens
//   A        pairs of prompt tokens, and tokens before them                                       –
//   slope    (prompt(N) − time of four prompts of N/4 tokens) / (3 N²/8)                          s
//   K        A/N − N/2, tokens before one prompt that attends to so many pairs                    tokens
//   prefix   what K tokens before a prompt of N tokens add, linear between nodes of both          s
//
// This is the latency of all pipeline stages. The period is a part of it, as that of prompt(N) is.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/iteration/iteration.hpp"

namespace roofcast::sim {

class CoarseIterations {
 public:
  // `groups` is the number of attention-DP ranks with such a batch. The targets of `scenario`, and `workspace`, must
  // outlive it.
  CoarseIterations(const ScenarioView& scenario, Workspace& workspace, std::int64_t groups);

  IterationTime operator()(std::int64_t decodes, double tokens, double attended);

 private:
  // A time at a node. NaN: not computed yet.
  struct Prompt {
    base::Seconds time;
    double period;       // a part of the time
    base::Seconds less;  // that a pair takes, of fewer than N²/2
  };
  base::Seconds cost(const workloads::Batch& batch);
  const Prompt& prompt(std::size_t node);
  // `fewer`: pairs, than those of one prompt.
  IterationTime prompts(double tokens, double fewer);
  base::Seconds prefix(double tokens, double cached);
  base::Seconds prefix_at(std::size_t node, std::size_t cached);
  base::Seconds decodes(double decodes, double tokens);
  base::Seconds decodes_at(std::size_t d, std::size_t n);

  ScenarioView s_;
  Workspace& workspace_;
  std::int64_t groups_;
  std::int64_t context_;
  std::int64_t query_;  // tokens of a decode
  bool fixed_tiles_;
  std::vector<std::int64_t> lengths_;  // nodes of tokens of prompts
  std::vector<std::int64_t> cached_;   // and of those before them
  std::vector<Prompt> prompts_;
  std::vector<base::Seconds> prefixes_;  // at both nodes
  std::vector<base::Seconds> mixed_;     // decodes() at its nodes
  base::Seconds floors_[4];              // as in IterationTable
};

}  // namespace roofcast::sim
