// SPDX-License-Identifier: Apache-2.0
//
// Time of one engine iteration, looked up instead of added up operator by operator.
//
// A simulation asks for millions of iterations of one deployment. Each answer is the sum of entries of three tables. An
// entry is computed by iteration_cost when it is first asked for.
//
//   t(D, C, S, N, K) = prompt(D + N) + decodes(D, C, N) + prefixes(S, N/S, K)
//
//   symbol   meaning                                                                              unit
//   t        time of the iteration                                                                s
//   D        sequences that decode                                                                –
//   C        their mean context                                                                   tokens
//   S        sequences with prompt tokens                                                         –
//   N        prompt tokens of all of them                                                         tokens
//   K        tokens that were cached before each prompt                                           tokens
//   T        tokens of one prompt                                                                 tokens
//   P        tokens of each of S prompts, N/S                                                     tokens
//
//   prompt(T)          one prompt of T tokens with nothing cached, for every T: GEMM times jump from tile to tile
//   decodes(D, C, N)   what D decodes with mean context C add: t(D, C, 1, N, 0) − prompt(D + N)
//   prefixes(S, P, K)  what S prompts of P tokens with K cached tokens each add: t(0, 0, S, P, K) − prompt(S·P)
//
// With speculative decoding, D + N is D·(draft tokens + 1) + N. The number of tokens alone decides the time of the
// linear layers. What is left for the last two tables is smooth, so they are interpolated linearly between nodes.
// Iterations without prompts have a table of their own: every D, with nodes of C. Where the host launches iterations
// with prompts operator by operator, they take at least the time of these launches (launch_floor). It depends only on
// whether CUDA graphs cover the tokens.
//
// Errors: exact at the nodes if the iteration has no prompt, or no decodes, or no prefix. Elsewhere decodes and
// prefixes are taken to add. In tests/laws/iteration_table_test.cpp, 99 % of the iterations are within 5 %, and the
// worst is 6 % off. The worst are iterations whose clock falls because of power, or would fall if the GPU did not wait
// for launches: there the parts do not quite add.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/iteration/iteration.hpp"

namespace roofcast::sim {

// What one attention-DP rank computes in an iteration.
struct Iteration {
  std::int64_t decodes = 0;
  double context = 0;              // tokens, mean context of a decode
  std::int64_t prompts = 0;        // sequences with prompt tokens
  std::int64_t prompt_tokens = 0;  // of all these sequences
  // Tokens before each prompt chunk: the value with which S equal chunks attend to as many tokens as these chunks do,
  // Σ pᵢ(kᵢ + pᵢ/2) / Σ pᵢ − Σ pᵢ / 2S, for chunks of pᵢ tokens after kᵢ tokens.
  double cached = 0;
};

class IterationTable {
 public:
  // `groups` is the number of attention-DP ranks with such a batch. The targets of `scenario` must outlive the table.
  IterationTable(const ScenarioView& scenario, std::int64_t groups);

  IterationTime operator()(const Iteration& iteration);

  // Times of iterations of decodes alone, for mean contexts between two nodes.
  struct Line {
    double from = 0.0;  // tokens
    double to = 0.0;
    double until = 0.0;  // another line begins there
    IterationTime at_from;
    IterationTime at_to;

    IterationTime operator()(double context) const {
      const double beyond = std::max(0.0, (context - from) / (to - from));
      return {at_from.latency + beyond * (at_to.latency - at_from.latency),
              at_from.period + beyond * (at_to.period - at_from.period)};
    }
  };
  Line line(std::int64_t decodes, double context);
  std::size_t costs() const { return costs_; }  // calls of iteration_cost so far

 private:
  class Axis {
   public:
    explicit Axis(std::vector<std::int64_t> nodes);  // ascending, at least two
    struct Place {
      std::size_t node = 0;  // the node at or below
      double beyond = 0;     // share of the way to the next node
    };
    Place place(double x) const;
    std::int64_t operator[](std::size_t node) const { return nodes_[node]; }
    std::size_t size() const { return nodes_.size(); }

   private:
    std::vector<std::int64_t> nodes_;
    std::vector<std::uint16_t> below_;  // the node of each small integer
  };
  using Table = std::vector<IterationTime>;

  IterationTime cost(const workloads::Batch& batch);
  IterationTime prompt(std::int64_t tokens);
  IterationTime decodes(const Iteration& iteration);
  IterationTime prefixes(const Iteration& iteration);

  ScenarioView scenario_;
  std::int64_t groups_;
  // Least times by launches: [0] and [1] prompts alone, [2] and [3] prompts with decodes; the even ones for tokens that
  // CUDA graphs cover, the odd ones for more.
  IterationTime floors_[4];
  std::int64_t query_;  // tokens that a decode verifies
  Workspace workspace_;
  std::size_t costs_ = 0;
  Axis contexts_;
  Axis decodes_;
  Axis mixed_prompts_;  // prompt tokens in iterations with decodes
  Axis prompts_;
  Axis lengths_;
  Axis cached_;
  Table prompt_;
  Table alone_;
  Table with_decodes_;
  Table with_prefixes_;
};

}  // namespace roofcast::sim
