// SPDX-License-Identifier: Apache-2.0
//
// What the replicas of a simulation do next: the time at which something happens to each, and those that may be able to
// start an iteration now. The times are the leaves of a tree whose nodes have the least of their two branches, so a new
// time costs at most the logarithm of the number of replicas.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "base/units/quantity.hpp"

namespace roofcast::sim {

class Agenda {
 public:
  explicit Agenda(std::size_t replicas)
      : leaves_(std::bit_ceil(replicas)),
        least_(2 * leaves_, base::Seconds::infinity()),
        is_touched_(replicas, false) {}

  // The next thing happens to `replica` at `time`. It replaces the one before.
  void at(base::Seconds time, std::size_t replica) {
    std::size_t node = leaves_ + replica;
    least_[node] = time;
    for (node /= 2; node > 0; node /= 2) {
      const base::Seconds least = std::min(least_[2 * node], least_[2 * node + 1]);
      if (least_[node] == least) {
        return;
      }
      least_[node] = least;
    }
  }
  // `replica` may be able to start an iteration.
  void touch(std::size_t replica) {
    if (!is_touched_[replica]) {
      is_touched_[replica] = true;
      touched_.push_back(replica);
    }
  }

  // Time of what happens next; infinite where there is nothing.
  base::Seconds next() const { return least_[1]; }
  // The replicas to which something happens until `now`, in order. Nothing more happens to them then. Valid until the
  // next call.
  std::span<const std::size_t> due(base::Seconds now) {
    due_.clear();
    collect(1, now);
    for (const std::size_t replica : due_) {
      at(base::Seconds::infinity(), replica);
    }
    return due_;
  }
  // Replicas that were touched since the last call, in order. Valid until the next call.
  std::span<const std::size_t> take_touched() {
    taken_.clear();
    taken_.swap(touched_);
    std::sort(taken_.begin(), taken_.end());
    for (const std::size_t replica : taken_) {
      is_touched_[replica] = false;
    }
    return taken_;
  }
  std::span<const std::size_t> touched() const { return touched_; }

 private:
  void collect(std::size_t node, base::Seconds now) {
    if (least_[node] > now) {
      return;
    }
    if (node >= leaves_) {
      due_.push_back(node - leaves_);
      return;
    }
    collect(2 * node, now);
    collect(2 * node + 1, now);
  }

  std::size_t leaves_;
  std::vector<base::Seconds> least_;  // [1] of all; [2 n] and [2 n + 1] are the branches of [n]
  std::vector<bool> is_touched_;
  std::vector<std::size_t> touched_;
  std::vector<std::size_t> taken_;
  std::vector<std::size_t> due_;
};

}  // namespace roofcast::sim
