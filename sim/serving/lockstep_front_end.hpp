// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

#include "base/queueing/fifo.hpp"
#include "base/units/quantity.hpp"

namespace roofcast::sim {

// The front end of clients in step, and their prompts that wait (sim/replay/front_end.hpp says what it does).
//
// It serves intakes and messages in the order of their times. Where it is behind with messages, a client gets its last
// token late and sends its next prompt late: messages of iterations that ended before that are served before the
// prompt's intake. So a client that waited for the backlog of its last token waits for it again.
class LockstepFrontEnd {
 public:
  // Prompts that wait. They are taken in one after the other; a few count as one bundle.
  struct Waiting {
    double count = 0;
    base::Seconds sent;   // the clients sent them
    base::Seconds first;  // the scheduler has them, on average; never before they are taken in
  };

  void set(base::Seconds intake, base::Seconds message, base::Seconds overhead) {
    intake_ = intake;
    message_ = message;
    overhead_ = overhead;
  }
  void bundle(double prompts) { bundle_ = prompts; }

  // When it is free.
  base::Seconds free() const { return free_; }
  bool nobody_waits() const { return waiting_.empty(); }

  // Prompts of clients that have their answers when the last message is served. No other message comes before `soon`.
  void arrive(double count, base::Seconds soon) {
    const bool at_once = pending_ == 0 && served_ <= soon;
    base::Seconds free = free_;
    double left = count;
    double taken = std::min(count, 1.0);  // the first one alone decides when the others follow
    while (left > 1e-9) {
      if (at_once) {
        waiting_.push_back({taken, served_, free + 0.5 * (taken + 1.0) * intake_ + overhead_});
        free += taken * intake_;
      } else {
        waiting_.push_back({taken, served_, base::Seconds::infinity()});
        ++pending_;
      }
      left -= taken;
      taken = std::min(left, bundle_);
    }
    if (at_once) {
      count_intake(count, free_ + 0.5 * (count + 1.0) * intake_ + overhead_ - served_);
    }
    free_ = free;
  }

  // Takes in the prompts that were sent until `time`.
  void take_in(base::Seconds time) {
    if (pending_ > 0) {
      take_in_all(time);
    }
  }

  // Messages of iterations that have ended, the last of them at `now` with so many tokens.
  void send(double tokens, double last, base::Seconds now) {
    free_ += (tokens - last) * message_;
    take_in(now);
    free_ = base::max(free_, now) + last * message_;
    served_ = free_;
  }

  // When the scheduler gets the next prompt that it has taken in. There are prompts.
  base::Seconds first() const { return waiting_.front().first; }
  // When the next prompt is sent that it has yet to take in.
  base::Seconds sent() const {
    return pending_ > 0 ? waiting_.from_back(pending_).sent : base::Seconds::infinity();
  }

  // Prompts that the scheduler has at `known`, counted up to `most`.
  double ready(base::Seconds known, double most) const {
    double count = 0.0;
    for (const Waiting& w : waiting_) {
      if (w.first > known) {
        break;
      }
      count += w.count;
      if (count >= most) {
        break;
      }
    }
    return count;
  }

  // So many prompts begin. Calls `each` with the times when they were sent, and how many.
  template <class Each>
  void leave(double count, Each each) {
    while (count > 1e-9) {
      Waiting& w = waiting_.front();
      const double taken = std::min(count, w.count);
      each(w.sent, taken);
      count -= taken;
      w.count -= taken;
      if (w.count <= 1e-9) {
        waiting_.pop_front();
      }
    }
  }

  // Mean time from a client to the scheduler, since the last restart().
  base::Seconds mean_intake() const { return time_ / std::max(1.0, taken_in_); }
  void restart() {
    taken_in_ = 0.0;
    time_ = {};
  }

 private:
  void count_intake(double count, base::Seconds time) {
    taken_in_ += count;
    time_ += count * time;
  }
  void take_in_all(base::Seconds time) {
    while (pending_ > 0 && waiting_.from_back(pending_).sent <= time) {
      Waiting& next = waiting_.from_back(pending_--);
      free_ = base::max(free_, next.sent);
      next.first = free_ + 0.5 * (next.count + 1.0) * intake_ + overhead_;
      count_intake(next.count, next.first - next.sent);
      free_ += next.count * intake_;
    }
  }

  base::Seconds intake_;    // of a request
  base::Seconds message_;   // of a sequence's tokens of an iteration
  base::Seconds overhead_;  // of a request
  double bundle_ = 1;       // prompts that count as one arrival
  base::Seconds free_;
  double taken_in_ = 0;
  base::Seconds time_;          // of these
  base::Seconds served_;        // when the last message is
  std::ptrdiff_t pending_ = 0;  // the last entries of `waiting_`, which it has yet to take in
  base::queueing::Fifo<Waiting> waiting_;
};

}  // namespace roofcast::sim
