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
using Host = IterationHost;
using Job = IterationJob;
using Id = Station::Id;

constexpr Seconds kNever = Station::kNever;
constexpr Seconds kSame = base::nanosecond;  // times that are one, but for rounding

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
    std::size_t batches = 0;
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      Host& h = hosts_[i];
      h.q = i < ahead ? &pools.first : &*pools.second;
      h.jobs = &jobs_;
      h.hands_over = pools.second && i < ahead;
      h.free.resize(static_cast<std::size_t>(h.q->front_ends));
      batches += static_cast<std::size_t>(h.q->stages);
    }
    stations_.resize(batches);
    for (std::size_t from = 0; Host & h : hosts_) {
      h.batches = std::span(stations_).subspan(from, static_cast<std::size_t>(h.q->stages));
      h.last = h.batches.size() - 1;
      from += h.batches.size();
      for (Station& s : h.batches) {
        s.host = &h;
      }
    }
    takers_ = std::span(hosts_).first(ahead);
    answerers_ = pools.second ? std::span(hosts_).subspan(ahead) : takers_;
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
        Host& h = answerers_[i % answerers_.size()];
        Station& s = h.batches[i / answerers_.size() % h.batches.size()];
        s.admit(static_cast<Id>(i), s.promise(job, job.cached, job.cached));
        s.decode(static_cast<Id>(i));
        ++h.load;
      }
    }
    next_ = static_cast<std::size_t>(begun);
    for (std::int64_t i = begun; i < clients; ++i) {
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
        for (Station& s : h.batches) {
          if (s.end <= same) {
            complete(s);
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
    result_.iteration = busy_ / std::max(1.0, iterations_);
  }

 private:
  Job& job(Id id) { return jobs_[static_cast<std::size_t>(id)]; }
  IterationOutcome& outcome(Id id) { return result_.outcomes[static_cast<std::size_t>(id)]; }

  // When a server has something to do: its iterations end, its first stage is free, or the next request comes to it.
  Seconds next_of(Host& h) {
    const Seconds next = base::min(h.wake, next_end(h));
    const bool idle =
        std::ranges::any_of(h.batches, [](const Station& s) { return s.end == kNever; });
    return idle && !h.incoming.empty() ? base::min(next, job(h.incoming.front()).queued) : next;
  }
  static Seconds next_end(const Host& h) {
    return std::ranges::min_element(h.batches, {}, &Station::end)->end;
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
    Host& h = *s.host;
    --h.load;
    --h.places;
    --s.places;
    h.link = base::max(h.link, now) + (pools_.link + pools_.link_token * j.input);
    j.queued = h.link;
    j.from = &h;
    j.kept = j.held;
    j.kept_promise = std::max(j.held, j.promised);
    j.state = Job::State::waits;
    route(answerers_, second_turn_).comes(id);
  }
  // A sequence from the first pool has a place in the second: its first token is sent.
  void take_over(Station& s, Id id, Seconds now) {
    outcome(id).first = s.host->send(now, 1.0);
    s.decode(id);
    Host& from = *job(id).from;
    from.used -= job(id).kept + from.q->each;
    from.committed -= job(id).kept_promise + from.q->each;
    if (!from.waiting.empty()) {
      start(from, now);
    }
  }

  // Admits what waits, as far as there is room. Each micro-batch has an equal share of what runs or waits.
  void admit(Station& s, Seconds now, double& left, IterationWork& work) {
    Host& h = *s.host;
    const auto present = h.places + static_cast<std::int64_t>(h.waiting.size());
    const std::int64_t share = base::ceil_div(present, h.q->stages);
    bool blocked = false;
    while (!h.waiting.empty() && left > 0.0 && s.places < share) {
      const Id id = h.waiting.front();
      Job& j = job(id);
      const double tokens = std::min(j.missing, left);
      if (!h.q->cuts && tokens < j.missing && j.missing <= static_cast<double>(h.q->budget)) {
        break;
      }
      const double promised = s.promise(j, j.cached + j.missing, j.cached + tokens);
      blocked = h.places >= h.q->sequences ||
                (h.committed > 0.5 && h.committed + promised + h.q->each > h.q->cache);
      if (blocked) {
        break;
      }
      h.waiting.pop_front();
      if (!j.started) {
        j.started = true;
        outcome(id).scheduled = now;
        outcome(id).place = now - base::min(now, base::max(j.queued, h.blocked));
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
    h.blocked = blocked ? base::min(h.blocked, now) : kNever;
  }

  static bool plans_ahead(const Host& h) { return h.q->plans_ahead && h.batches.size() == 1; }
  // When the iterations that begin at `now` were planned: at the start of the last one before, if something runs.
  static Seconds plan_of(const Host& h, Seconds now) {
    const Station& s = h.batches.front();
    const bool runs = s.decodes > 0 || s.partial >= 0;
    return plans_ahead(h) && runs
               ? base::min(now, s.began + s.each * static_cast<double>(s.count - 1))
               : now;
  }

  // The next iterations of a server: of its micro-batches that do not run, as soon as the first stage is free.
  void start(Host& h, Seconds now) {
    h.due = false;
    const Seconds planned = plan_of(h, now);
    while (!h.incoming.empty() && job(h.incoming.front()).queued <= planned + kSame) {
      h.waiting.push_back(h.incoming.front());
      h.incoming.pop_front();
    }
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
      if (begin(h.batches[which], now)) {
        h.last = which;
      }
    }
  }

  // The next iterations of a micro-batch; false where it has none.
  bool begin(Station& s, Seconds now) {
    const IterationServer& q = s.q();
    const bool first = q.prompts_first;
    const bool lost = !first && s.preempt_for_decodes();
    IterationWork work;
    double left = static_cast<double>(q.budget - (first ? 0 : s.decodes));
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
      return false;
    }
    const IterationSpan span =
        q.time(s.decoded ? s.decodes : 0, work.tokens, work.attended, work.prompts);
    s.began = now;
    s.each = span.latency;
    s.count = 1;
    if (!s.mixed) {
      const Host& h = *s.host;
      const Seconds grows = span.token;
      const double beyond = h.used / static_cast<double>(h.places) - q.each - q.context;
      s.each = base::max(Seconds{}, s.each + beyond * grows);
      s.count = alike(s, now, grows);
      s.each += 0.5 * static_cast<double>(s.count - 1) * grows;
    }
    s.sent = 0;
    s.end = now + s.each * static_cast<double>(s.count);
    s.host->stage = now + span.period;
    if (counts_) {
      busy_ += s.end - now;
      iterations_ += static_cast<double>(s.count);
      mixed_ += s.mixed ? 1.0 : 0.0;
    }
    return true;
  }

  // How many iterations take x, of which the first takes t and each `grows` more than the one before: k·t + g·k(k − 1)/2 = x.
  static double iterations_in(Seconds x, Seconds t, Seconds grows) {
    const Seconds half = t - 0.5 * grows;
    const double more = 2.0 * (grows / half) * std::max(0.0, x / half);
    return 2.0 * (x / half) / (1.0 + std::sqrt(1.0 + more));
  }

  // How many iterations without prompts are sure to follow each other, each of which takes `grows` more than the one
  // before. Where micro-batches take turns, `each` becomes the time of a turn of all.
  std::int64_t alike(Station& s, Seconds now, Seconds grows) {
    Host& h = *s.host;
    if (!h.waiting.empty() && (!s.leaving.empty() || h.batches.size() > 1)) {
      return 1;
    }
    Seconds until = h.incoming.empty() ? kNever : job(h.incoming.front()).queued;
    Seconds next = coming_.empty() ? kNever : coming_.front().first;
    for (Host& other : hosts_) {
      if (other.hands_over) {
        until = base::min(until, (other.due ? now : next_of(other)) + pools_.link);
      } else if (closed_ && &other != &h) {
        next = base::min(next, other.due ? now : next_end(other));
      }
    }
    Seconds turn;
    std::int64_t decodes = 0;
    for (const Station& each : h.batches) {
      if (&each != &s && each.mixed && each.end < kNever) {
        return 1;
      }
      if (&each != &s && closed_) {
        next = base::min(next, each.end);
      }
      decodes += each.decodes;
      turn += each.decodes > 0 && h.batches.size() > 1 ? h.q->time(each.decodes, 0.0, 0.0, 0).period
                                                       : Seconds{};
    }
    until = base::min(until, next + least_ahead_);
    const Seconds each = base::max(s.each, turn);
    const double arrives = until == kNever
                               ? std::numeric_limits<double>::infinity()
                               : std::ceil(iterations_in(until - now, each, grows) - 1e-9);
    const double most = std::min(plans_ahead(h) ? std::max(arrives, 0.0) + 1.0 : arrives,
                                 std::floor((h.q->cache - h.used) / static_cast<double>(decodes)));
    const std::int64_t steps = s.next_event() - s.iteration;
    const std::int64_t count = std::max<std::int64_t>(
        1, most < static_cast<double>(steps) ? static_cast<std::int64_t>(most) : steps);
    s.each = count > 1 ? each : s.each;
    return count;
  }

  // The iterations of a micro-batch have ended.
  void complete(Station& s) {
    const Seconds now = s.end;
    s.send_until(now);
    const auto tokens = static_cast<double>((s.decoded ? s.decodes : 0) +
                                            static_cast<std::int64_t>(s.complete.size()));
    const Seconds sent = s.host->hands_over ? now : s.host->send(now, tokens);
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
      } else if (s.host->hands_over) {
        hand_over(s, id, now);
      } else {
        s.decode(id);
      }
    }
  }

  void finish(Station& s, Id id, Seconds sent) {
    job(id).state = Job::State::done;
    outcome(id).last = sent;
    --s.host->load;
    if (s.q().delayed_release) {
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
  std::vector<Host> hosts_;
  std::vector<Station> stations_;
  std::span<Host> takers_;     // of requests
  std::span<Host> answerers_;  // the same, or the second pool
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
