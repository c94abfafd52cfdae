// SPDX-License-Identifier: Apache-2.0
//
// The state of all replicas together, second by second. Sums are of whole
// numbers, so they do not drift, and a change costs the same whatever the number of replicas.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/units/quantity.hpp"

namespace roofcast::sim {

// The state of all replicas together in one second of the simulation.
struct SimulatedSecond {
  double running = 0;              // mean number of requests
  double waiting = 0;              // the same
  double cache = 0;                // share of the KV caches that is held
  double busy = 0;                 // share of the time in which a first stage is busy
  std::int64_t prompt_tokens = 0;  // of iterations that ended in this second
  std::int64_t output_tokens = 0;
};

// The state of one replica.
struct ReplicaState {
  std::size_t running = 0;
  std::size_t waiting = 0;
  std::int64_t cache_used = 0;      // B
  std::int64_t cache_capacity = 1;  // B
};

class Timeline {
 public:
  Timeline(std::vector<SimulatedSecond>& seconds, std::size_t replicas)
      : seconds_(seconds), counted_(replicas) {}

  // The second that `time` is in.
  SimulatedSecond& at(base::Seconds time) {
    const std::size_t index = whole_seconds(time);
    if (index >= seconds_.size()) {
      seconds_.resize(index + 1);
    }
    return seconds_[index];
  }

  // Brings the sums up to date with a replica of pool 0 or 1.
  void count(std::size_t replica, std::size_t pool, const ReplicaState& is) {
    ReplicaState& was = counted_[replica];
    running_ += is.running - was.running;
    waiting_ += is.waiting - was.waiting;
    cache_used_[pool] += is.cache_used - was.cache_used;
    cache_capacity_[pool] = is.cache_capacity;
    was = is;
  }

  // The replicas stay as they are from `from` until `to`.
  void pass(base::Seconds from, base::Seconds to) {
    double cache = 0.0;  // replicas' worth
    for (const std::size_t pool : {std::size_t{0}, std::size_t{1}}) {
      cache += static_cast<double>(cache_used_[pool]) / static_cast<double>(cache_capacity_[pool]);
    }
    each_second(from, to, [&](SimulatedSecond& second, double share) {
      second.running += share * static_cast<double>(running_);
      second.waiting += share * static_cast<double>(waiting_);
      second.cache += share * cache / static_cast<double>(counted_.size());
    });
  }

  // The first stage of a replica is busy.
  void add_busy(base::Seconds from, base::Seconds to) {
    each_second(from, to, [this](SimulatedSecond& second, double share) {
      second.busy += share / static_cast<double>(counted_.size());
    });
  }

 private:
  static std::size_t whole_seconds(base::Seconds time) {
    return static_cast<std::size_t>(time / base::second);
  }

  // Calls f(second, share of it) for each second between two times.
  template <typename F>
  void each_second(base::Seconds from, base::Seconds to, const F& f) {
    while (from < to) {
      const base::Seconds until =
          std::min(to, static_cast<double>(whole_seconds(from) + 1) * base::second);
      f(at(from), (until - from) / base::second);
      from = until;
    }
  }

  std::vector<SimulatedSecond>& seconds_;
  std::vector<ReplicaState> counted_;  // what the sums have of each replica
  std::size_t running_ = 0;
  std::size_t waiting_ = 0;
  std::array<std::int64_t, 2> cache_used_{};          // B, of each pool
  std::array<std::int64_t, 2> cache_capacity_{1, 1};  // B, of a replica of each pool
};

}  // namespace roofcast::sim
