// SPDX-License-Identifier: Apache-2.0
//
// Times of iterations of all attention-DP ranks of a replica.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/iteration/iteration_table.hpp"

namespace roofcast::sim {

// The slowest rank sets the time. A rank takes the time of its own batch. The experts compute the tokens of all ranks,
// so the batch is timed with g = (tokens of all ranks) / (tokens of this rank) equal ranks.
class ReplicaIterations {
 public:
  explicit ReplicaIterations(const ScenarioView& scenario)
      : scenario_(scenario),
        by_groups_(static_cast<std::size_t>(scenario.mapping->data_parallel) + 1) {}

  IterationTime operator()(std::span<const Iteration> ranks) {
    IterationTime slowest;
    each_rank(ranks, [&](const Iteration& iteration, IterationTable& times) {
      const IterationTime time = times(iteration);
      slowest.latency = std::max(slowest.latency, time.latency);
      slowest.period = std::max(slowest.period, time.period);
    });
    return slowest;
  }

  // Calls f(iteration, table of its times) for each rank that has tokens.
  template <class F>
  void each_rank(std::span<const Iteration> ranks, const F& f) {
    std::int64_t all = 0;
    for (const Iteration& iteration : ranks) {
      all += tokens_of(iteration);
    }
    const auto count = static_cast<std::int64_t>(ranks.size());
    for (const Iteration& iteration : ranks) {
      if (const std::int64_t tokens = tokens_of(iteration); tokens > 0) {
        f(iteration, of(equal_ranks(static_cast<double>(all), static_cast<double>(tokens), count)));
      }
    }
  }

 private:
  std::int64_t tokens_of(const Iteration& iteration) const {
    return iteration.decodes * scenario_.serving->speculation.query_tokens() +
           iteration.prompt_tokens;
  }

  IterationTable& of(std::int64_t groups) {
    auto& times = by_groups_[static_cast<std::size_t>(groups)];
    if (!times) {
      times = std::make_unique<IterationTable>(scenario_, groups);
    }
    return *times;
  }

  ScenarioView scenario_;
  std::vector<std::unique_ptr<IterationTable>> by_groups_;
};

// The iterations of the last scenario, for simulations of one thread. Scenarios that differ in traffic alone share
// them. A draft model and images make them depend on more, so then they are not kept.
class KeptIterations {
 public:
  std::shared_ptr<ReplicaIterations> of(const ScenarioView& s) {
    if (s.draft != nullptr || s.pools != nullptr || !s.model->vision.empty()) {
      return std::make_shared<ReplicaIterations>(s);
    }
    const Key key{s.platform, s.model, s.precision, s.mapping, s.serving};
    if (!kept_ || key != key_) {
      kept_ = std::make_shared<ReplicaIterations>(s);
      key_ = key;
    }
    return kept_;
  }

 private:
  using Key = std::array<const void*, 5>;
  Key key_{};
  std::shared_ptr<ReplicaIterations> kept_;
};

}  // namespace roofcast::sim
