// SPDX-License-Identifier: Apache-2.0
//
// What sequences that lost their places have left in the cache of a rank. It is found again until others need its room:
// that of the sequence goes first which ran longest ago, and the end of a sequence before its start. Who ends after it
// was read again leaves it too, though nobody asks for it.
//
//   ρ(n)   cache that n tokens of a sequence take, without what each sequence takes in addition
//   Σ ρ(n) ≤ cache − used + host
#pragma once

#include <cstdint>
#include <deque>

#include "base/queueing/iteration_server.hpp"

namespace roofcast::base::queueing {

class IdleTokens {
 public:
  using Id = std::int32_t;

  // A sequence no longer runs. Of its tokens, those in whole units stay.
  void add(Id id, double tokens, const IterationServer& q);
  // How many tokens of a sequence are still there.
  double of(Id id) const;
  // They are no longer idle.
  void remove(Id id, const IterationServer& q);
  // Those that run use so much of the cache.
  void evict_beyond(double used, const IterationServer& q) {
    if (room_ > 0.0 && room_ > q.cache + q.host - used) {
      evict(q.cache + q.host - used, q);
    }
  }

 private:
  struct Part {
    Id id;
    double tokens;
  };
  std::deque<Part> parts_;  // the one that ran longest ago first
  double room_ = 0.0;

  static double room_of(double tokens, const IterationServer& q) {
    return q.takes(tokens) - q.takes(0.0);
  }
  void evict(double most, const IterationServer& q);
};

}  // namespace roofcast::base::queueing
