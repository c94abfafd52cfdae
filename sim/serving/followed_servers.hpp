// SPDX-License-Identifier: Apache-2.0
//
// The replicas of one pool as servers whose requests are followed (base/queueing/iteration_servers.hpp): their scheduler,
// caches, front ends, and the times of their iterations.
#pragma once

#include <cstdint>

#include "base/queueing/iteration_server.hpp"
#include "sim/iteration/followed_iterations.hpp"

namespace roofcast::sim {

class FollowedServers {
 public:
  // `count` replicas. The targets of `scenario`, and `workspace`, must outlive them.
  FollowedServers(const ScenarioView& scenario, double count, Workspace& workspace);
  FollowedServers(const FollowedServers&) = delete;
  FollowedServers& operator=(const FollowedServers&) = delete;

  // From a token to the next one, of so many sequences that decode in all micro-batches, on all ranks.
  base::Seconds interval(double decodes);
  // Share of the time of a replica that prompts of so many tokens take, which come at `rate` beside so many decodes.
  double busy(base::Hertz rate, double prompt, double decodes);
  // The longest time between tokens that keeps itself up, of `rate` requests a second with so many tokens of a prompt and so
  // many decodes, where at most `most` sequences decode. For one stage.
  base::Seconds longest_interval(base::Hertz rate, double prompt, double decodes, double most);

  // All sequences begin with so many tokens, which the cache holds once if it keeps prefixes.
  void share(std::int64_t tokens);

  base::queueing::IterationServer q;

 private:
  std::int64_t of_a_rank(double decodes) const;  // in a micro-batch
  void set_cache(const ScenarioView& s);

  FollowedIterations times_;
};

}  // namespace roofcast::sim
