// SPDX-License-Identifier: Apache-2.0
//
// Time of one engine iteration, looked up instead of added up operator by operator.
//
// A simulation asks for millions of iterations of one deployment. Each answer is put together from
// three tables of iteration_cost, filled where they are asked:
//
//   t(D, C, S, N, K) = prompt(D + N) + decodes(D, C, N) + prefixes(S, N/S, K)
//
//   prompt(T)           one prompt of T tokens, nothing cached, at every T: GEMMs change by tiles
//   decodes(D, C, N)    what D decodes at a mean context C make of it: t(D, C, 1, N, 0) - prompt(D + N)
//   prefixes(S, P, K)   what S prompts of P tokens, K cached before each, make of it:
//                       t(0, 0, S, P, K) - prompt(S · P)
//
// (With speculative decoding D + N is D·(draft tokens + 1) + N.) Tokens alone decide the linear layers, so what is left for the last two is smooth and interpolated
// linearly between nodes. Steps without prompts have a table of their own, every D with nodes of C.
// Exact at the nodes, where a step has no prompt, or one without decodes or without a prefix; elsewhere
// decodes and prefixes are taken to add. Where the host launches steps with prompts operator by operator, what it
// takes is their floor (launch_floor), which knows no tokens but whether graphs cover them. Of tests/laws/iteration_table_test.cpp, 99 % are within 5 %, the worst
// 6 % off: steps whose clock falls for power, to which the parts do not quite add, or which waits for launches spare.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/iteration/iteration.hpp"

namespace roofcast::sim {

// What one attention-DP rank runs in an iteration.
struct Iteration {
  std::int64_t decodes = 0;
  double context = 0;              // mean cached tokens of a decode
  std::int64_t prompts = 0;        // sequences with prompt tokens
  std::int64_t prompt_tokens = 0;  // of all of them
  // Tokens before each prompt's, if all were equal and attended to as many as these do together:
  // Σ pᵢ(kᵢ + pᵢ/2) / Σ pᵢ - Σ pᵢ / 2S.
  double cached = 0;
};

struct IterationTime {
  double latency = 0;  // s, first to last stage
  double period = 0;   // s until the first stage takes the next micro-batch
};

class IterationTable {
 public:
  // `groups`: attention-DP ranks that have such a batch. what `scenario` points to outlives the table.
  IterationTable(const ScenarioView& scenario, std::int64_t groups);

  IterationTime operator()(const Iteration& iteration);
  std::size_t costs() const { return costs_; }  // step_costs behind the answers so far

 private:
  class Axis {
   public:
    explicit Axis(std::vector<std::int64_t> nodes);  // ascending, at least two
    struct Place {
      std::size_t node = 0;  // at or below
      double beyond = 0;     // share of the way to the next
    };
    Place place(double x) const;
    std::int64_t operator[](std::size_t node) const { return nodes_[node]; }
    std::size_t size() const { return nodes_.size(); }

   private:
    std::vector<std::int64_t> nodes_;
    std::vector<std::uint16_t> below_;  // of small integers
  };
  using Table = std::vector<IterationTime>;

  IterationTime cost(const workloads::Batch& batch);
  IterationTime prompt(std::int64_t tokens);
  IterationTime alone(std::int64_t decodes, double context);
  IterationTime decodes(const Iteration& iteration);
  IterationTime prefixes(const Iteration& iteration);

  ScenarioView scenario_;
  std::int64_t groups_;
  // Of prompts alone, and beside decodes; of each of as many tokens as graphs cover, and of more.
  IterationTime floors_[4];
  std::int64_t query_;  // tokens of a decode
  Workspace workspace_;
  std::size_t costs_ = 0;
  Axis contexts_;
  Axis decodes_;
  Axis beside_;  // prompt tokens beside decodes
  Axis prompts_;
  Axis lengths_;
  Axis cached_;
  Table prompt_;
  Table alone_;
  Table with_decodes_;
  Table with_prefixes_;
};

}  // namespace roofcast::sim
