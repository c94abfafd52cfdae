// SPDX-License-Identifier: Apache-2.0
//
// Times of the iterations of a replica, all attention-DP ranks of it, for estimates that ask for thousands of them.
//
// The slowest rank sets the time, as in a simulation (sim/iteration/replica_iterations.hpp): a rank is timed with as many equal
// ranks as make the tokens of all. Iterations with prompts come from few costs (sim/iteration/coarse_iterations.hpp), the
// others from those of sim/iteration/iteration_costs.hpp, at the mean context.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/queueing/iteration_server.hpp"
#include "sim/iteration/coarse_iterations.hpp"
#include "sim/iteration/iteration_costs.hpp"

namespace roofcast::sim {

class FollowedIterations {
 public:
  // The targets of `scenario`, and `workspace`, must outlive it.
  FollowedIterations(const ScenarioView& scenario, Workspace& workspace);

  using Batch = base::queueing::IterationBatch;
  using Span = base::queueing::IterationSpan;

  Span operator()(std::span<const Batch> ranks);
  // All ranks have so many decodes, and no prompt.
  const Span& alone(std::int64_t decodes) { return alone(decodes, ranks_); }
  // So many decodes on each rank, and tokens of a prompt on one.
  Span with_prompt(std::int64_t decodes, double tokens, double attended);
  const IterationCosts& costs() const { return costs_; }

 private:
  struct Group {
    CoarseIterations coarse;
    std::vector<Span> alone;  // by decodes
  };
  Group& group(std::int64_t groups);
  const Span& alone(std::int64_t decodes, std::int64_t groups);
  Span time(const Batch& batch, std::int64_t groups);

  const ScenarioView& s_;
  Workspace& workspace_;
  IterationCosts costs_;
  std::int64_t ranks_;
  double query_;  // tokens of a decode
  std::vector<std::unique_ptr<Group>> by_groups_;
};

}  // namespace roofcast::sim
