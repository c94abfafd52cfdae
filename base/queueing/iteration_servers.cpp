// SPDX-License-Identifier: Apache-2.0
#include "base/queueing/iteration_servers.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <utility>

#include "base/queueing/iteration_station.hpp"

namespace roofcast::base::queueing {
namespace {

using Station = IterationStation;
using Job = IterationJob;
using Id = Station::Id;

constexpr Seconds kNever = Station::kNever;

// All servers and what comes to them.
class Path {
 public:
  Path(const IterationPools& pools, const std::vector<IterationRequest>& requests,
       std::int64_t clients, std::size_t first, IterationPath& result)
      : pools_(pools),
        closed_(clients > 0),
        first_(first),
        least_ahead_(pools.first.ahead + pools.first.take),
        jobs_(requests.size()),
        result_(result) {
    result_.outcomes.resize(requests.size());
    const auto ahead = static_cast<std::size_t>(pools.first.servers);
    stations_.resize(ahead + (pools.second ? static_cast<std::size_t>(pools.second->servers) : 0));
    for (std::size_t i = 0; i < stations_.size(); ++i) {
      Station& s = stations_[i];
      s.q = i < ahead ? &pools.first : &*pools.second;
      s.jobs = &jobs_;
      s.hands_over = pools.second && i < ahead;
      s.free.resize(static_cast<std::size_t>(s.q->front_ends));
    }
    takers_ = std::span(stations_).first(ahead);
    answerers_ = pools.second ? std::span(stations_).subspan(ahead) : takers_;
    std::int64_t begun = 0;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const IterationRequest& r = requests[i];
      Job& job = jobs_[i];
      job.arrival = r.arrival;
      job.input = static_cast<double>(r.input);
      job.cached = static_cast<double>(std::min(r.cached, r.input - 1));
      job.missing = job.input - job.cached;
      job.left = r.output - r.begun;
      if (r.begun > 0) {
        ++begun;
        job.cached = job.input + static_cast<double>(r.begun);
        job.missing = 0.0;
        Station& s = answerers_[i % answerers_.size()];
        s.admit(static_cast<Id>(i), s.promise(job, job.cached, job.cached));
        s.decode(static_cast<Id>(i));
        ++s.load;
      }
    }
    next_ = static_cast<std::size_t>(begun);
    for (std::int64_t i = begun; i < clients; ++i) {
      send_next({});
    }
    open_next();
  }

  void run() {
    for (Station& s : answerers_) {
      if (s.decodes > 0) {
        start(s, {});
      }
    }
    for (;;) {
      Station* due = nullptr;
      Seconds when = coming_.empty() ? kNever : coming_.front().first;
      for (Station& s : stations_) {
        const Seconds at = next_of(s);
        if (at < when) {
          when = at;
          due = &s;
        }
      }
      if (when == kNever) {
        break;
      }
      if (due == nullptr) {
        arrive();
        continue;
      }
      if (due->end < kNever) {
        complete(*due);
      }
      start(*due, when);
    }
    result_.mixed = mixed_ / std::max(1.0, iterations_);
    result_.iteration = busy_ / std::max(1.0, iterations_);
  }

 private:
  Job& job(Id id) { return jobs_[static_cast<std::size_t>(id)]; }
  IterationOutcome& outcome(Id id) { return result_.outcomes[static_cast<std::size_t>(id)]; }

  // When a server has something to do: its iterations end, or the next request comes to it.
  Seconds next_of(Station& s) {
    return s.end < kNever ? s.end : s.incoming.empty() ? kNever : job(s.incoming.front()).queued;
  }

  void push_coming(Seconds at, Id id) {
    coming_.emplace_back(at, id);
    std::push_heap(coming_.begin(), coming_.end(), std::greater<>());
  }
  void send_next(Seconds now) {
    if (next_ < jobs_.size()) {
      push_coming(now, static_cast<Id>(next_++));
    }
  }
  // Of an open loop.
  void open_next() {
    if (!closed_ && next_ < jobs_.size()) {
      send_next(jobs_[next_].arrival);
    }
  }

  // The server that gets the next request.
  static Station& route(std::span<Station> to, std::size_t& turn) {
    Station* best = &to[turn++ % to.size()];
    if (!best->q->in_turn) {
      best = &*std::min_element(to.begin(), to.end(),
                                [](const Station& a, const Station& b) { return a.load < b.load; });
    }
    ++best->load;
    return *best;
  }

  void arrive() {
    const auto [now, id] = coming_.front();
    std::pop_heap(coming_.begin(), coming_.end(), std::greater<>());
    coming_.pop_back();
    open_next();
    counts_ = counts_ || static_cast<std::size_t>(id) >= first_;
    Station& to = route(takers_, turn_);
    job(id).queued = to.take(now, job(id).input) + to.q->ahead;
    outcome(id).arrival = now;
    outcome(id).queued = job(id).queued;
    to.comes(id);
  }

  // The prompt is computed. Its tokens go to a server of the second pool.
  void hand_over(Station& s, Id id, Seconds now) {
    Job& j = job(id);
    --s.load;
    --s.places;
    s.link = base::max(s.link, now) + (pools_.link + pools_.link_token * j.input);
    j.queued = s.link;
    j.from = &s;
    j.kept = j.held;
    j.kept_promise = std::max(j.held, j.promised);
    j.state = Job::State::waits;
    route(answerers_, second_turn_).comes(id);
  }
  // A sequence from the first pool has a place in the second: its first token is sent.
  void take_over(Station& s, Id id, Seconds now) {
    outcome(id).first = s.send(now, 1.0);
    s.decode(id);
    Station& from = *job(id).from;
    from.used -= job(id).kept + from.q->each;
    from.committed -= job(id).kept_promise + from.q->each;
    if (from.end == kNever && !from.waiting.empty()) {
      start(from, now);
    }
  }

  // Admits what waits, as far as there is room.
  void admit(Station& s, Seconds now, double& left, IterationWork& work) {
    bool blocked = false;
    while (!s.waiting.empty() && left > 0.0) {
      const Id id = s.waiting.front();
      Job& j = job(id);
      const double tokens = std::min(j.missing, left);
      if (!s.q->cuts && tokens < j.missing && j.missing <= static_cast<double>(s.q->budget)) {
        break;
      }
      const double promised = s.promise(j, j.cached + j.missing, j.cached + tokens);
      blocked = s.places >= s.q->sequences ||
                (s.committed > 0.5 && s.committed + promised + s.q->each > s.q->cache);
      if (blocked) {
        break;
      }
      s.waiting.pop_front();
      if (!j.started) {
        j.started = true;
        outcome(id).scheduled = now;
        outcome(id).place = now - base::min(now, base::max(j.queued, s.blocked));
      }
      s.admit(id, promised);
      if (tokens > 0.0) {
        left -= tokens;
        s.compute(id, tokens, work);
      } else {
        left -= 1.0;
        take_over(s, id, now);
      }
    }
    s.blocked = blocked ? base::min(s.blocked, now) : kNever;
  }

  // The next iterations of a server that has ended its last ones.
  void start(Station& s, Seconds now) {
    while (!s.incoming.empty() && job(s.incoming.front()).queued <= now) {
      s.waiting.push_back(s.incoming.front());
      s.incoming.pop_front();
    }
    const bool first = s.q->prompts_first;
    const bool lost = !first && s.preempt_for_decodes();
    IterationWork work;
    double left = static_cast<double>(s.q->budget - (first ? 0 : s.decodes));
    if (s.partial >= 0 && left > 0.0) {
      const double tokens = std::min(job(s.partial).missing, left);
      left -= tokens;
      s.compute(s.partial, tokens, work);
    }
    if (!lost && s.partial < 0) {
      admit(s, now, left, work);
      if (work.prompts == 0 && s.decodes == 0 && !s.leaving.empty()) {
        s.free_leaving();
        admit(s, now, left, work);
      }
    }
    if (first && work.prompts == 0) {
      s.preempt_for_decodes();
    }
    s.mixed = work.prompts > 0;
    s.decoded = s.decodes > 0 && !(s.mixed && first);
    if (!s.mixed && s.decodes == 0) {
      s.free_leaving();
      return;
    }
    s.began = now;
    s.each = s.q->time(s.decoded ? s.decodes : 0, work.tokens, work.attended, work.prompts);
    s.count = s.mixed ? 1 : alike(s, now);
    s.sent = 0;
    s.end = now + s.each * static_cast<double>(s.count);
    if (counts_) {
      busy_ += s.end - now;
      iterations_ += static_cast<double>(s.count);
      mixed_ += s.mixed ? 1.0 : 0.0;
    }
  }

  // How many iterations without prompts are sure to follow each other.
  std::int64_t alike(Station& s, Seconds now) {
    if (!s.waiting.empty() && !s.leaving.empty()) {
      return 1;
    }
    Seconds until = s.incoming.empty() ? kNever : job(s.incoming.front()).queued;
    Seconds next = coming_.empty() ? kNever : coming_.front().first;
    for (Station& other : stations_) {
      if (other.hands_over) {
        until = base::min(until, next_of(other) + pools_.link);
      } else if (closed_ && &other != &s) {
        next = base::min(next, other.end);
      }
    }
    until = base::min(until, next + least_ahead_);
    const double most =
        std::min(std::ceil((until - now) / s.each - 1e-9),
                 std::floor((s.q->cache - s.used) / static_cast<double>(s.decodes)));
    const std::int64_t steps = s.next_event() - s.iteration;
    return std::max<std::int64_t>(
        1, most < static_cast<double>(steps) ? static_cast<std::int64_t>(most) : steps);
  }

  // The iterations of a server have ended.
  void complete(Station& s) {
    const Seconds now = s.end;
    s.send_until(now);
    const auto tokens = static_cast<double>((s.decoded ? s.decodes : 0) +
                                            static_cast<std::int64_t>(s.complete.size()));
    const Seconds sent = s.hands_over ? now : s.send(now, tokens);
    s.end = kNever;
    s.free_leaving();
    ended_.clear();
    if (s.decoded) {
      s.advance(ended_);
    }
    for (const Id id : ended_) {
      finish(s, id, sent);
    }
    ended_.swap(s.complete);
    s.complete.clear();
    for (const Id id : ended_) {
      if (outcome(id).first == Seconds{}) {
        outcome(id).first = sent;
      }
      if (--job(id).left == 0) {
        finish(s, id, sent);
      } else if (s.hands_over) {
        hand_over(s, id, now);
      } else {
        s.decode(id);
      }
    }
  }

  void finish(Station& s, Id id, Seconds sent) {
    job(id).state = Job::State::done;
    outcome(id).last = sent;
    --s.load;
    if (s.q->delayed_release) {
      s.leaving.push_back(id);
    } else {
      s.release(id);
    }
    if (closed_) {
      send_next(sent);
    }
  }

  const IterationPools& pools_;
  bool closed_;
  std::size_t first_;
  Seconds least_ahead_;  // from sending a request until a server has it
  std::vector<Station> stations_;
  std::span<Station> takers_;     // of requests
  std::span<Station> answerers_;  // the same, or the second pool
  std::vector<Job> jobs_;
  IterationPath& result_;
  std::vector<std::pair<Seconds, Id>> coming_;  // a heap of requests by time
  std::vector<Id> ended_;
  std::size_t next_ = 0;
  std::size_t turn_ = 0;
  std::size_t second_turn_ = 0;
  bool counts_ = false;
  Seconds busy_;  // of all servers, while it counts
  double iterations_ = 0;
  double mixed_ = 0;
};

}  // namespace

IterationPath follow(const IterationPools& pools, const std::vector<IterationRequest>& requests,
                     std::int64_t clients, std::size_t first) {
  IterationPath path;
  Path(pools, requests, clients, first, path).run();
  return path;
}

}  // namespace roofcast::base::queueing
