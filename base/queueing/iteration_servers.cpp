// SPDX-License-Identifier: Apache-2.0
#include "base/queueing/iteration_servers.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <utility>

#include "base/integers.hpp"
#include "base/queueing/iteration_station.hpp"

namespace roofcast::base::queueing {
namespace {

using Station = IterationStation;
using MicroBatch = IterationMicroBatch;
using Host = IterationHost;
using Room = IterationRoom;
using Job = IterationJob;
using Id = Station::Id;

constexpr Seconds kNever = Host::kNever;
constexpr Seconds kSame = Host::kSame;

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
    hosts_.resize(ahead + (pools.second ? static_cast<std::size_t>(pools.second->servers) : 0));
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      hosts_[i].set_up(i < ahead ? pools.first : *pools.second, pools.second && i < ahead, jobs_);
    }
    takers_ = std::span(hosts_).first(ahead);
    answerers_ = pools.second ? std::span(hosts_).subspan(ahead) : takers_;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const IterationRequest& r = requests[i];
      Job& job = jobs_[i];
      job.arrival = r.arrival;
      job.input = static_cast<double>(r.input);
      job.reused = job.cached = static_cast<double>(std::min(r.cached, r.input - 1));
      job.missing = job.input - job.cached;
      job.left = r.output - r.begun;
      job.priority = r.priority;
      if (r.begun > 0) {
        ++next_;
        Host& h = answerers_[i % answerers_.size()];
        job.cached = job.input + static_cast<double>(r.begun) * h.q->gains;
        job.missing = 0.0;
        Station& s = h.stations[i / answerers_.size() % h.stations.size()];
        s.admit(static_cast<Id>(i), s.promise(job, job.cached, job.cached));
        s.decode(static_cast<Id>(i));
        ++h.load;
      }
    }
    for (auto i = static_cast<std::int64_t>(next_); i < clients; ++i) {
      send_next({});
    }
    open_next();
  }

  void run() {
    for (Host& h : answerers_) {
      start(h, {});
    }
    for (;;) {
      Seconds when = coming_.empty() ? kNever : coming_.front().first;
      for (Host& h : hosts_) {
        h.next = next_of(h);
        when = base::min(when, h.next);
      }
      if (when == kNever) {
        break;
      }
      // All that ends at a time ends before requests that come then are routed, and both before iterations begin.
      const Seconds same = when + kSame;
      for (Host& h : hosts_) {
        h.due = h.next <= same;
        for (MicroBatch& batch : h.batches) {
          if (batch.end <= same) {
            complete(batch);
          }
        }
      }
      while (!coming_.empty() && coming_.front().first <= same) {
        arrive();
      }
      for (Host& h : hosts_) {
        if (h.due) {
          start(h, when);
        }
      }
    }
    result_.mixed = mixed_ / std::max(1.0, iterations_);
    result_.together = prompts_ / std::max(1.0, mixed_);
  }

 private:
  Job& job(Id id) { return jobs_[static_cast<std::size_t>(id)]; }
  IterationOutcome& outcome(Id id) { return result_.outcomes[static_cast<std::size_t>(id)]; }

  // When a server has something to do: its iterations end, its first stage is free, or the next request comes to it.
  Seconds next_of(Host& h) {
    const Seconds next = base::min(h.wake, h.next_end());
    return h.wake == kNever && h.is_idle() && !h.incoming.empty()
               ? base::min(next, job(h.incoming.front()).queued)
               : next;
  }

  void push_coming(Seconds at, Id id) {
    coming_.emplace_back(at, id);
    std::push_heap(coming_.begin(), coming_.end(), std::greater<>());
  }
  // From a client that has its answer at `now`, or from the start of an open loop.
  void send_next(Seconds now) {
    if (next_ < jobs_.size()) {
      push_coming(now + jobs_[next_].arrival, static_cast<Id>(next_));
      ++next_;
    }
  }
  void open_next() {
    if (!closed_) {
      send_next({});
    }
  }

  // The server that gets the next request.
  static Host& route(std::span<Host> to, std::size_t& turn) {
    Host* best = &to[turn++ % to.size()];
    if (!best->q->in_turn) {
      best = &*std::min_element(to.begin(), to.end(),
                                [](const Host& a, const Host& b) { return a.load < b.load; });
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
    Host& to = route(takers_, turn_);
    job(id).queued = to.take(now, job(id).input) + to.q->ahead;
    outcome(id).arrival = now;
    outcome(id).queued = job(id).queued;
    to.comes(id);
  }

  // The prompt is computed. Its tokens go to a server of the second pool.
  void hand_over(Station& s, Id id, Seconds now) {
    Job& j = job(id);
    Room& room = *s.room;
    --s.batch->host->load;
    --room.places;
    --s.places;
    room.tokens -= j.held;
    room.link = base::max(room.link, now) + (pools_.link + pools_.link_token * j.input);
    j.queued = room.link;
    j.from = &s;
    j.kept = s.q().takes(j.held);
    j.kept_promise = s.q().takes(std::max(j.held, j.promised));
    j.state = Job::State::waits;
    route(answerers_, second_turn_).comes(id);
  }
  // A sequence from the first pool has a place in the second: its first token is sent.
  void take_over(Station& s, Id id, Seconds now) {
    outcome(id).first = s.batch->host->send(now, 1.0);
    outcome(id).held_up = now - outcome(id).first;
    s.decode(id);
    const Station& from = *job(id).from;
    from.room->used -= job(id).kept;
    from.room->committed -= job(id).kept_promise;
    Host& host = *from.batch->host;
    if (!host.waiting.empty()) {
      start(host, now);
    }
  }

  enum class Admission { admitted, no_budget, no_room };

  // Of the first request that waits, on a rank: budget, a place and cache.
  Admission may_admit(Station& s) {
    const Host& h = *s.batch->host;
    const Job& j = job(h.waiting.front());
    const double known = s.known(h.waiting.front());
    const double missing = j.missing - (known - j.cached);
    const double tokens = std::min(missing, s.left);
    const bool whole = !h.q->cuts && missing <= static_cast<double>(h.q->budget);
    if (s.left <= 0.0 || s.partial >= 0 || (whole && tokens < missing)) {
      return Admission::no_budget;
    }
    const double promised = s.promise(j, known + missing, known + tokens);
    return s.room->has(promised, *h.q) ? Admission::admitted : Admission::no_room;
  }
  void admit(Station& s, Seconds now) {
    Host& h = *s.batch->host;
    const Id id = h.waiting.front();
    Job& j = job(id);
    h.waiting.pop_front();
    if (!j.started) {
      j.started = true;
      outcome(id).scheduled = now;
      outcome(id).place = now - base::min(now, base::max(j.queued, h.blocked));
    }
    s.find(id);
    const double tokens = std::min(j.missing, s.left);
    s.admit(id, s.promise(j, j.cached + j.missing, j.cached + tokens));
    if (tokens > 0.0) {
      s.compute(id, tokens);
    } else {
      s.left -= static_cast<double>(h.q->query);
      take_over(s, id, now);
    }
  }
  // On the rank with the fewest sequences of those that may. `no_room`: none has a place and cache.
  Admission admit(MicroBatch& b, Seconds now) {
    Station* best = nullptr;
    auto all = Admission::no_room;
    for (Station& s : b.ranks) {
      if (best == nullptr || s.room->places < best->room->places) {
        const Admission each = may_admit(s);
        best = each == Admission::admitted ? &s : best;
        all = std::min(all, each);
      }
    }
    if (best != nullptr) {
      admit(*best, now);
    }
    return all;
  }

  // Admits what waits, as far as there is room. Each micro-batch has an equal share of what runs or waits.
  void admit_all(MicroBatch& b, Seconds now) {
    Host& h = *b.host;
    const std::int64_t present = h.places() + static_cast<std::int64_t>(h.waiting.size());
    const std::int64_t share = base::ceil_div(present, h.q->stages);
    auto last = Admission::admitted;
    for (std::int64_t places = b.places();
         !h.waiting.empty() && places < share && last == Admission::admitted; ++places) {
      last = admit(b, now);
    }
    h.blocked = last == Admission::no_room ? base::min(h.blocked, now) : kNever;
  }

  // The next iterations of a server: of its micro-batches that do not run, as soon as the first stage is free.
  void start(Host& h, Seconds now) {
    h.due = false;
    h.wake = kNever;
    const std::size_t batches = h.batches.size();
    for (std::size_t tried = 1, first = h.last; tried <= batches; ++tried) {
      const std::size_t which = (first + tried) % batches;
      if (h.batches[which].end < kNever) {
        continue;
      }
      if (batches > 1 && h.stage > now) {
        h.wake = h.stage;
        return;
      }
      h.look(h.batches[which], now);
      if (begin(h.batches[which], now)) {
        h.last = which;
      }
    }
  }

  // Plans the next iteration of a micro-batch.
  void plan(MicroBatch& b, Seconds now) {
    const IterationServer& q = *b.host->q;
    bool lost = false;
    for (Station& s : b.ranks) {
      lost = (!q.prompts_first && s.preempt_for_decodes()) || lost;
      s.left = static_cast<double>(q.budget - (q.prompts_first ? 0 : s.decodes * q.query));
      s.work = {};
      if (s.partial >= 0 && s.left > 0.0) {
        s.compute(s.partial, std::min(job(s.partial).missing, s.left));
      }
    }
    if (!lost && !b.host->holds_back(b)) {
      admit_all(b, now);
      if (b.any_leaves() && !b.has_prompts() && b.decoding() == 0) {
        b.free_leaving();
        admit_all(b, now);
      }
    }
    b.mixed = b.has_prompts();
    if (q.prompts_first && !b.mixed) {
      for (Station& s : b.ranks) {
        s.preempt_for_decodes();
      }
    }
  }

  // The next iterations of a micro-batch; false where it has none.
  bool begin(MicroBatch& b, Seconds now) {
    Host& h = *b.host;
    const IterationServer& q = *h.q;
    plan(b, now);
    h.had_prompts = b.mixed;
    if (!b.mixed && b.decoding() == 0) {
      b.free_leaving();
      return false;
    }
    work_.clear();
    b.decodes = 0;
    for (Station& s : b.ranks) {
      s.decoded = s.decodes > 0 && !(b.mixed && q.prompts_first);
      s.work.decodes = s.decoded ? s.decodes : 0;
      b.decodes += s.work.decodes;
      work_.push_back(s.work);
    }
    const IterationSpan span = b.mixed ? q.time(work_) : h.with_contexts(q.time(work_));
    b.began = now;
    b.each = span.latency;
    b.count = 1;
    if (!b.mixed) {
      const Seconds grows = span.token * q.gains;
      b.count = alike(b, now, grows);
      h.repeat(b.count - 1);
      h.unlooked += b.count;
      b.each += 0.5 * static_cast<double>(b.count - 1) * grows;
    }
    b.sent = 0;
    b.end = now + b.each * static_cast<double>(b.count);
    h.stage = now + span.period;
    if (counts_) {
      iterations_ += static_cast<double>(b.count);
      mixed_ += b.mixed ? 1.0 : 0.0;
      for (const IterationBatch& each : work_) {
        prompts_ += static_cast<double>(each.prompts);
      }
    }
    return true;
  }

  // How many iterations take x, of which the first takes t and each `grows` more than the one before: k·t + g·k(k − 1)/2 = x.
  static double iterations_in(Seconds x, Seconds t, Seconds grows) {
    const Seconds half = t - 0.5 * grows;
    const double more = 2.0 * (grows / half) * std::max(0.0, x / half);
    return 2.0 * (x / half) / (1.0 + std::sqrt(1.0 + more));
  }

  // The period of a micro-batch that decodes alone.
  Seconds period(const MicroBatch& b) {
    work_.clear();
    for (const Station& s : b.ranks) {
      work_.push_back({s.decodes, 0.0, 0.0, 0});
    }
    return b.host->with_contexts(b.host->q->time(work_)).period;
  }

  // How many iterations without prompts are sure to follow each other, each of which takes `grows` more than the one
  // before. Where micro-batches take turns, `each` becomes the time of a turn of all.
  std::int64_t alike(MicroBatch& b, Seconds now, Seconds grows) {
    Host& h = *b.host;
    if (!h.waiting.empty() && (b.any_leaves() || h.batches.size() > 1)) {
      return 1;
    }
    Seconds until = h.incoming.empty() ? kNever : job(h.incoming.front()).queued;
    Seconds next = coming_.empty() ? kNever : coming_.front().first;
    for (Host& other : hosts_) {
      if (other.hands_over) {
        until = base::min(until, (other.due ? now : next_of(other)) + pools_.link);
      } else if (closed_ && &other != &h) {
        next = base::min(next, other.due ? now : next_of(other));
      }
    }
    Seconds turn;
    for (const MicroBatch& each : h.batches) {
      if (&each != &b && each.mixed && each.end < kNever) {
        return 1;
      }
      if (&each != &b && closed_) {
        next = base::min(next, each.end);
      }
      turn += h.batches.size() > 1 && each.decoding() > 0 ? period(each) : Seconds{};
    }
    until = base::min(until, next + least_ahead_);
    const Seconds each = base::max(b.each, turn);
    const double arrives = until == kNever
                               ? std::numeric_limits<double>::infinity()
                               : std::ceil(iterations_in(until - now, each, grows) - 1e-9);
    double most = h.plans_ahead() ? std::max(arrives, 0.0) + 1.0 : arrives;
    std::int64_t steps = std::numeric_limits<std::int64_t>::max();
    for (std::size_t rank = 0; rank < b.ranks.size(); ++rank) {
      double grow = 0.0;
      for (const MicroBatch& batch : h.batches) {
        grow += batch.ranks[rank].growth();
      }
      const double free = h.q->cache - h.rooms[rank].used;
      most = grow > 0.0 ? std::min(most, std::floor(free / grow)) : most;
      Station& s = b.ranks[rank];
      steps = s.decodes > 0 ? std::min(steps, s.next_event() - s.iteration) : steps;
    }
    steps = std::min(steps, h.same_answers());
    const std::int64_t count = std::max<std::int64_t>(
        1, most < static_cast<double>(steps) ? static_cast<std::int64_t>(most) : steps);
    b.each = count > 1 ? each : b.each;
    return count;
  }

  // The iterations of a micro-batch have ended.
  void complete(MicroBatch& b) {
    Host& h = *b.host;
    const Seconds now = b.end;
    h.send_until(now);
    double tokens = static_cast<double>(b.decodes) * h.q->gains;
    for (const Station& s : b.ranks) {
      tokens += static_cast<double>(s.complete.size());
    }
    const Seconds sent = h.hands_over ? now : h.send(now, tokens);
    b.end = kNever;
    for (Station& s : b.ranks) {
      complete(s, b.count, now, sent);
    }
  }
  void complete(Station& s, std::int64_t count, Seconds now, Seconds sent) {
    s.free_leaving();
    ended_.clear();
    if (s.decoded) {
      s.advance(count, ended_);
    }
    for (const Id id : ended_) {
      finish(s, id, now, sent);
    }
    ended_.swap(s.complete);
    s.complete.clear();
    for (const Id id : ended_) {
      if (outcome(id).first == Seconds{}) {
        outcome(id).first = sent;
        outcome(id).computed = now;
        outcome(id).held_up = now - sent;
      }
      if (--job(id).left == 0) {
        finish(s, id, now, sent);
      } else if (s.batch->host->hands_over) {
        hand_over(s, id, now);
      } else {
        s.decode(id);
      }
    }
  }

  void finish(Station& s, Id id, Seconds now, Seconds sent) {
    job(id).state = Job::State::done;
    outcome(id).last = sent;
    outcome(id).held_up += sent - now;
    --s.batch->host->load;
    s.end(id);
    if (closed_) {
      send_next(sent);
    }
  }

  const IterationPools& pools_;
  bool closed_;
  std::size_t first_;
  Seconds least_ahead_;  // from sending a request until a server has it
  std::vector<Host> hosts_;
  std::span<Host> takers_;     // of requests
  std::span<Host> answerers_;  // the same, or the second pool
  std::vector<Job> jobs_;
  IterationPath& result_;
  std::vector<std::pair<Seconds, Id>> coming_;  // a heap of requests by time
  std::vector<Id> ended_;
  std::vector<IterationBatch> work_;
  std::size_t next_ = 0;
  std::size_t turn_ = 0;
  std::size_t second_turn_ = 0;
  bool counts_ = false;
  // Of all servers, while it counts:
  double iterations_ = 0;
  double mixed_ = 0;
  double prompts_ = 0;
};

}  // namespace

IterationPath follow(const IterationPools& pools, const std::vector<IterationRequest>& requests,
                     std::int64_t clients, std::size_t first) {
  IterationPath path;
  Path(pools, requests, clients, first, path).run();
  return path;
}

}  // namespace roofcast::base::queueing
