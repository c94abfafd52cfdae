// SPDX-License-Identifier: Apache-2.0
//
// When requests are sent: at their times, or in a closed loop when clients are free, and after those that they follow.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <vector>

#include "sim/replay/front_stages.hpp"
#include "sim/replay/served_request.hpp"
#include "workloads/traffic/requests.hpp"

namespace roofcast::sim {

// Requests that something happens to, the earliest first; of two at once, the one with the lower number.
class Coming {
 public:
  struct Event {
    base::Seconds time;
    std::int32_t id = 0;
  };

  void add(base::Seconds time, std::int32_t id) { events_.emplace(time, id); }
  // Infinite where there is none.
  base::Seconds next() const {
    return events_.empty() ? base::Seconds::infinity() : std::get<base::Seconds>(events_.top());
  }
  Event take() {
    const auto [time, id] = events_.top();
    events_.pop();
    return {time, id};
  }

 private:
  using Entry = std::tuple<base::Seconds, std::int32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> events_;
};

class Clients {
 public:
  // `concurrency` is as in simulate(). Sets up `served`, one for each request; both must outlive it.
  Clients(const workloads::Requests& requests, std::int64_t concurrency,
          std::vector<ServedRequest>& served)
      : stream_(requests), closed_(concurrency > 0), served_(served) {
    served_.reserve(requests.requests.size());
    for (const workloads::Request& request : requests.requests) {
      ServedRequest each;
      each.arrival = closed_ ? base::Seconds{} : request.arrival;
      each.input_tokens = request.input_tokens;
      each.output_tokens = request.output_tokens;
      each.priority = request.priority;
      each.session = request.session;
      each.task = request.task;
      served_.push_back(each);
    }
    follows_.resize(requests.follow_ups.empty() ? 0 : served_.size());
    for (const workloads::FollowUp& each : requests.follow_ups) {
      ++follows_[static_cast<std::size_t>(each.request)];
      served_[static_cast<std::size_t>(each.after)].tools = each.delay;
    }
    // Where requests come in the order of their times, the next one waits until the one before is taken.
    const auto earlier = [](const ServedRequest& a, const ServedRequest& b) {
      return a.arrival < b.arrival;
    };
    one_by_one_ = !closed_ && std::is_sorted(served_.begin(), served_.end(), earlier);
    const std::size_t clients = closed_       ? static_cast<std::size_t>(concurrency)
                                : one_by_one_ ? 1
                                              : served_.size();
    for (std::size_t i = 0; i < std::min(clients, served_.size()); ++i) {
      send_next(thinking());
    }
  }

  // Time at which the next request is sent; infinite where there is none.
  base::Seconds next() const { return sent_.next(); }
  Coming::Event take() {
    const Coming::Event event = sent_.take();
    if (one_by_one_ && event.id == last_) {
      send_next({});
    }
    return event;
  }
  void send(base::Seconds time, std::int32_t id) { sent_.add(time, id); }

  // An answer is complete. The requests that follow are sent; if there are none, the client's next one.
  void answered(std::int32_t id, base::Seconds now) {
    const auto before = [](const workloads::FollowUp& f, std::int32_t i) { return f.after < i; };
    auto each = std::lower_bound(stream_.follow_ups.begin(), stream_.follow_ups.end(), id, before);
    if (each == stream_.follow_ups.end() || each->after != id) {
      if (closed_) {
        send_next(now + thinking());
      }
      return;
    }
    for (; each != stream_.follow_ups.end() && each->after == id; ++each) {
      ServedRequest& request = served_[static_cast<std::size_t>(each->request)];
      request.arrival = std::max(request.arrival, now + each->delay);
      std::int32_t& follows = follows_[static_cast<std::size_t>(each->request)];
      if (--follows == 0) {
        follows = kSent;
        sent_.add(request.arrival, each->request);
      }
    }
  }

 private:
  static constexpr std::int32_t kSent = -1;

  // Thinking time of a client before its next request.
  base::Seconds thinking() const { return drawn(stream_.think, stream_.seed, next_, "think"); }

  // Sends the next request that follows none: at `now` in a closed loop, at its own time in an open loop.
  void send_next(base::Seconds now) {
    while (next_ < follows_.size() && follows_[next_] != 0) {
      ++next_;
    }
    if (next_ < served_.size()) {
      ServedRequest& request = served_[next_];
      request.arrival = closed_ ? now : request.arrival;
      last_ = static_cast<std::int32_t>(next_++);
      sent_.add(request.arrival, last_);
    }
  }

  const workloads::Requests& stream_;
  bool closed_;
  std::vector<ServedRequest>& served_;
  bool one_by_one_ = false;
  std::size_t next_ = 0;    // the next request that may follow none
  std::int32_t last_ = -1;  // the one before
  // Number of answers for which each request waits; kSent after the last. Empty if no request follows another.
  std::vector<std::int32_t> follows_;
  Coming sent_;
};

}  // namespace roofcast::sim
