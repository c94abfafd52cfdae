// SPDX-License-Identifier: Apache-2.0
//
// Times of iterations that repeat the one in flight (Scheduler::repeats): the same sequences decode, each with one more
// token of context. They are known at once, so what a replica does between two requests is one event, however many
// iterations it has. The times are those that the iterations have one by one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/iteration/replica_iterations.hpp"

namespace roofcast::sim {

class Ahead {
 public:
  struct Step {
    base::Seconds end;
    base::Seconds free;  // the first stage takes the next iteration
  };

  // Plans `repeats` iterations after `in_flight`, which has the batches `ranks`.
  void plan(ReplicaIterations& times, std::span<const Iteration> ranks, Step in_flight,
            std::int64_t repeats) {
    steps_.assign(1, in_flight);
    passed_ = 0;
    ranks_.clear();
    times.each_rank(ranks, [&](const Iteration& iteration, IterationTable& table) {
      const auto decodes = static_cast<double>(iteration.decodes);
      ranks_.push_back({decodes, std::round(iteration.context * decodes), &table,
                        table.line(iteration.decodes, iteration.context)});
    });
    for (std::int64_t i = 0; i < repeats; ++i) {
      IterationTime slowest;
      for (Rank& rank : ranks_) {
        rank.contexts += rank.decodes;
        const double context = rank.contexts / rank.decodes;
        if (context >= rank.line.until) {
          rank.line = rank.table->line(static_cast<std::int64_t>(rank.decodes), context);
        }
        const IterationTime time = rank.line(context);
        slowest.latency = std::max(slowest.latency, time.latency);
        slowest.period = std::max(slowest.period, time.period);
      }
      const base::Seconds start = start_after(steps_.back());
      steps_.push_back({start + slowest.latency, start + slowest.period});
    }
  }

  bool empty() const { return steps_.empty(); }
  // Iterations that have not started.
  std::size_t left() const { return empty() ? 0 : steps_.size() - passed_ - 1; }
  // [0] is in flight.
  const Step& operator[](std::size_t i) const { return steps_[passed_ + i]; }
  // Of [i], which is not in flight.
  base::Seconds start(std::size_t i) const { return start_after((*this)[i - 1]); }
  base::Seconds last_end() const { return steps_.back().end; }
  std::size_t started_before(base::Seconds now) const {
    std::size_t count = 0;
    while (count < left() && start(count + 1) < now) {
      ++count;
    }
    return count;
  }

  // So many more have started.
  void pass(std::size_t count) { passed_ += count; }
  void clear() { steps_.clear(); }

 private:
  struct Rank {
    double decodes = 0.0;
    double contexts = 0.0;  // tokens of all of them
    IterationTable* table = nullptr;
    IterationTable::Line line;
  };

  static base::Seconds start_after(const Step& step) { return std::max(step.end, step.free); }

  std::vector<Step> steps_;
  std::size_t passed_ = 0;
  std::vector<Rank> ranks_;  // that have decodes
};

}  // namespace roofcast::sim
