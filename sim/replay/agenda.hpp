// SPDX-License-Identifier: Apache-2.0
//
// What the replicas of a simulation do next: those that something happens to at a time, and those that may be able to
// start an iteration now. An event costs the logarithm of the events to come, whatever the number of replicas.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "base/units/quantity.hpp"

namespace roofcast::sim {

class Agenda {
 public:
  explicit Agenda(std::size_t replicas) : is_touched_(replicas, false) {}

  // Something happens to `replica` at `time`.
  void at(base::Seconds time, std::size_t replica) { events_.emplace(time, replica); }
  // `replica` may be able to start an iteration.
  void touch(std::size_t replica) {
    if (!is_touched_[replica]) {
      is_touched_[replica] = true;
      touched_.push_back(replica);
    }
  }

  // Time of the next event; infinite where there is none.
  base::Seconds next() const {
    return events_.empty() ? base::Seconds::infinity() : events_.top().first;
  }
  // Removes the events until `now`. Returns their replicas, in order, each once. Valid until the next call.
  std::span<const std::size_t> due(base::Seconds now) {
    due_.clear();
    for (; !events_.empty() && events_.top().first <= now; events_.pop()) {
      due_.push_back(events_.top().second);
    }
    std::sort(due_.begin(), due_.end());
    due_.erase(std::unique(due_.begin(), due_.end()), due_.end());
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
  using Event = std::pair<base::Seconds, std::size_t>;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<bool> is_touched_;
  std::vector<std::size_t> touched_;
  std::vector<std::size_t> taken_;
  std::vector<std::size_t> due_;
};

}  // namespace roofcast::sim
