// SPDX-License-Identifier: Apache-2.0
//
// The state of all replicas together, second by second. Sums are of whole numbers, so they do not drift, and a change
// costs the same whatever the number of replicas.
#pragma once

#include <algorithm>
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

  // A replica is as `is` from `now` on.
  void count(std::size_t replica, base::Seconds now, const ReplicaState& is) {
    grow(replica, now, counted_[replica].is.cache_used);
    ReplicaState& was = counted_[replica].is;
    running_ += is.running - was.running;
    waiting_ += is.waiting - was.waiting;
    was = is;
  }
  // Its KV cache has grown evenly until `now`.
  void grow(std::size_t replica, base::Seconds now, std::int64_t cache_used) {
    Counted& counted = counted_[replica];
    const double whole =
        static_cast<double>(counted.is.cache_capacity) * static_cast<double>(counted_.size());
    const double from = static_cast<double>(counted.is.cache_used) / whole;
    const double by = static_cast<double>(cache_used) / whole - from;
    const double length = (now - counted.since) / base::second;
    double passed = 0.0;  // s
    each_second(counted.since, now, [&](SimulatedSecond& second, double share) {
      second.cache += share * (from + by * (passed + 0.5 * share) / length);
      passed += share;
    });
    counted.is.cache_used = cache_used;
    counted.since = now;
  }

  // Running and waiting requests stay as many from `from` until `to`.
  void pass(base::Seconds from, base::Seconds to) {
    peak_running_ = from < to ? std::max(peak_running_, running_) : peak_running_;
    each_second(from, to, [&](SimulatedSecond& second, double share) {
      second.running += share * static_cast<double>(running_);
      second.waiting += share * static_cast<double>(waiting_);
    });
  }

  // The most requests that ran at once.
  std::int64_t peak_running() const { return static_cast<std::int64_t>(peak_running_); }

  // The first stage of a replica is busy.
  void add_busy(base::Seconds from, base::Seconds to) {
    each_second(from, to, [this](SimulatedSecond& second, double share) {
      second.busy += share / static_cast<double>(counted_.size());
    });
  }

 private:
  struct Counted {
    ReplicaState is;
    base::Seconds since;  // its KV cache has been counted until then
  };

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
  std::vector<Counted> counted_;  // what the sums have of each replica
  std::size_t running_ = 0;
  std::size_t waiting_ = 0;
  std::size_t peak_running_ = 0;
};

}  // namespace roofcast::sim
