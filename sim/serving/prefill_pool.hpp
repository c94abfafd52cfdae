// SPDX-License-Identifier: Apache-2.0
//
// The prefill pool of two pools: how long a prompt takes, and how long it waits.
//
// An iteration takes τ(n), from one prompt on one rank to K prompts on g ranks. K/τ(K) is the capacity of a replica.
// Where the host launches the operators, τ is flat for few prompts. So it is taken as the line D + S·n through τ(1) and
// τ(m), where m is twice the mean number of prompts in an iteration, which follows from D and S. S of another prompt is
// in proportion to its tokens, or to its time if an iteration of a rank takes one prompt only.
//
// Random arrivals. Prompts that wait are computed together (base/queueing/gated_batches.hpp). That has no limit to a
// batch. Where D is small (below S/4) the order of the prompts matters more: a prompt is delayed by at most the K − 1
// others of its batch, beyond its wait in first come, first served (M/G/c):
//
//   wait = min(gated batches, C·(E[S²]/2E[S])·(1 + ρ/((1 − ρ) M)) + C·S·(K − 1)/2)
//
// Regular arrivals, at a replica 1/λ₁ apart. Nobody waits while λ₁·τ(1) ≤ 1. Otherwise iterations follow each other,
// and each takes those that arrived during the one before:
//
//   H = τ(λ₁H), at most τ(K)                wait = 3/2 H − τ(1)
//
//   symbol   meaning                                                                            unit
//   M        replicas                                                                           –
//   g        attention-DP ranks of a replica                                                    –
//   τ(n)     time of an iteration with n prompts                                                s
//   K        prompts that the ranks of a replica take in one iteration                          –
//   C        probability that all replicas are busy (Erlang)                                    –
//   H        iteration, while no replica is idle                                                s
//   ρ        utilisation of a replica                                                           –
#pragma once

#include <vector>

#include "base/units/square_seconds.hpp"
#include "sim/iteration/iteration.hpp"

namespace roofcast::sim {

// Prompts of one length.
struct PromptClass {
  double tokens = 0;
  double weight = 0;      // share of the prompts
  base::Seconds service;  // from its first iteration to its first token, alone
};

class PrefillPool {
 public:
  // `scenario` is that of the pool. Its targets, and `workspace`, must outlive this.
  PrefillPool(const ScenarioView& scenario, Workspace& workspace);

  const std::vector<PromptClass>& classes() const { return classes_; }
  base::Seconds service() const { return service_; }  // mean over the classes
  double capacity() const;                            // 1/s, requests

  struct Wait {
    base::Seconds mean;
    base::SquareSeconds square;  // mean square
    double waits = 0;            // probability of that wait
    double together = 1;         // prompts of an iteration
  };
  // `rate` per second, below the capacity.
  Wait of_random(double rate);
  Wait of_regular(double rate);
  double spread() const { return each_scv_; }  // squared coefficient of variation of S

  workloads::Batch iteration(double together) const;  // of one rank
  double iterations() const { return iterations_; }   // of a prompt of the mean length

 private:
  workloads::Batch batch(std::int64_t prompts, std::int64_t groups, std::int64_t tokens) const;
  base::Seconds time(double prompts);  // τ
  PromptClass timed(double tokens, double weight, base::Seconds& work);

  const ScenarioView& s_;
  Workspace& workspace_;
  std::int64_t replicas_;
  std::int64_t groups_;
  std::int64_t whole_ = 1;  // prompts of the mean length in one iteration of a rank, at most
  double most_ = 1.0;       // K
  double iterations_ = 1.0;
  std::vector<PromptClass> classes_;
  base::Seconds service_;
  base::Seconds each_;  // S at full load, mean over the classes
  double each_scv_ = 0;
  double share_ = 1.0;                // mean of S over that of the mean length
  std::vector<double> nodes_;         // prompts of an iteration
  std::vector<base::Seconds> times_;  // τ at the nodes; 0: not computed yet
};

}  // namespace roofcast::sim
