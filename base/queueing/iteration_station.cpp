// SPDX-License-Identifier: Apache-2.0
#include "base/queueing/iteration_station.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace roofcast::base::queueing {
namespace {

template <class Part, class Value>
Value sum(std::span<const Part> parts, Value Part::*of) {
  Value all{};
  for (const Part& part : parts) {
    all += part.*of;
  }
  return all;
}

}  // namespace

using State = IterationJob::State;

void IterationHost::set_up(const IterationServer& server, bool hands,
                           std::vector<IterationJob>& all) {
  q = &server;
  jobs = &all;
  hands_over = hands;
  free.resize(static_cast<std::size_t>(server.front_ends));
  const auto ranks = static_cast<std::size_t>(server.ranks);
  rooms.resize(ranks);
  batches.resize(static_cast<std::size_t>(server.stages));
  stations.resize(batches.size() * ranks);
  last = batches.size() - 1;
  for (std::size_t i = 0; i < stations.size(); ++i) {
    stations[i].batch = &batches[i / ranks];
    stations[i].room = &rooms[i % ranks];
  }
  for (std::size_t i = 0; i < batches.size(); ++i) {
    batches[i].host = this;
    batches[i].ranks = std::span(stations).subspan(i * ranks, ranks);
  }
}

Seconds IterationHost::next_end() const {
  return std::ranges::min_element(batches, {}, &IterationMicroBatch::end)->end;
}

bool IterationHost::is_idle() const {
  return std::ranges::any_of(batches, [](const IterationMicroBatch& b) { return b.end == kNever; });
}

Seconds IterationHost::plan_of(Seconds now) const {
  const IterationMicroBatch& b = batches.front();
  return plans_ahead() && b.has_work()
             ? base::min(now, b.began + b.each * static_cast<double>(b.count - 1))
             : now;
}

std::int64_t IterationHost::places() const {
  return sum(std::span<const IterationRoom>(rooms), &IterationRoom::places);
}

double IterationHost::held_each() const {
  return sum(std::span<const IterationRoom>(rooms), &IterationRoom::tokens) /
         static_cast<double>(places());
}

IterationSpan IterationHost::with_contexts(IterationSpan span) const {
  const Seconds beyond = (held_each() - q->context) * span.token;
  span.latency = base::max(Seconds{}, span.latency + beyond);
  span.period = base::max(Seconds{}, span.period + beyond / static_cast<double>(q->stages));
  return span;
}

void IterationHost::comes(Id id) {
  auto place = incoming.end();
  while (place != incoming.begin() && job(*std::prev(place)).queued > job(id).queued) {
    --place;
  }
  incoming.insert(place, id);
}

void IterationHost::look(const IterationMicroBatch& b, Seconds now) {
  const bool rarely = q->looks_every > 1;
  const auto come = [&](Seconds by) {
    const auto late = [&](Id id) { return job(id).queued > by + kSame; };
    return std::ranges::find_if(incoming, late) - incoming.begin();
  };
  const auto receive = [&](std::ptrdiff_t count) {
    for (; count > 0; --count) {
      wait(incoming.front(), false);
      incoming.pop_front();
    }
  };
  receive(std::exchange(received, 0));
  if (rarely && b.has_work() && !had_prompts && unlooked < q->looks_every) {
    return;
  }
  unlooked = 0;
  if (rarely && plans_ahead() && b.has_work()) {
    received = come(now);
  } else {
    receive(come(plan_of(now)));
  }
}

void IterationHost::wait(Id id, bool again) {
  if (q->by_priority) {
    const auto before = [&](Id a, Id b) {
      return job(a).priority != job(b).priority ? job(a).priority > job(b).priority : a < b;
    };
    waiting.insert(std::upper_bound(waiting.begin(), waiting.end(), id, before), id);
  } else if (again) {
    waiting.push_front(id);
  } else {
    waiting.push_back(id);
  }
}

bool IterationHost::holds_back(const IterationMicroBatch& b) {
  return (q->waits_for_more > 0 && waits_for_more(b)) ||
         (q->waits_for_ranks > 0 && rooms.size() > 1 && waits_for_ranks(b));
}

bool IterationHost::waits_for_more(const IterationMicroBatch& b) {
  if (waiting.empty() || b.places() == 0) {
    return false;
  }
  const double all =
      q->enough * static_cast<double>(q->budget * static_cast<std::int64_t>(rooms.size()));
  auto tokens = static_cast<double>(b.places() * q->query);
  for (std::size_t i = 0; i < waiting.size() && tokens < all; ++i) {
    tokens += job(waiting[i]).missing;
  }
  const bool waits = tokens < all && waited < q->waits_for_more;
  waited = waits ? waited + 1 : 0;
  return waits;
}

// Iterations count in which no request waits.
bool IterationHost::waits_for_ranks(const IterationMicroBatch& b) {
  const bool all_decode =
      std::ranges::none_of(b.ranks, [](const auto& s) { return s.places == 0; });
  const bool waits = all_decode && !one_for_each_rank() && ++unbalanced < q->waits_for_ranks;
  unbalanced = waits ? unbalanced : 0;
  return waits;
}

// In order, those that wait go to the rank with the fewest.
bool IterationHost::one_for_each_rank() const {
  std::vector<std::int64_t> places;
  for (const IterationRoom& room : rooms) {
    places.push_back(room.places);
  }
  std::size_t ranks = 0;
  for (std::size_t i = 0; i < waiting.size() && ranks < rooms.size(); ++i) {
    const auto least = std::ranges::min_element(places);
    if (*least >= q->sequences) {
      return false;
    }
    ranks += *least == rooms[static_cast<std::size_t>(least - places.begin())].places ? 1 : 0;
    ++*least;
  }
  return ranks == rooms.size();
}

std::int64_t IterationHost::same_answers() const {
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  if (!waiting.empty() && waited > 0) {
    most = q->waits_for_more - waited + 1;
  }
  if (!waiting.empty() && unbalanced > 0) {
    most = std::min(most, q->waits_for_ranks - unbalanced);
  }
  if (q->looks_every > 1) {
    const auto busy = std::max<std::ptrdiff_t>(
        1, std::ranges::count_if(batches, [](const auto& b) { return b.has_work(); }));
    most = received > 0 ? 1 : std::min(most, (q->looks_every - unlooked + busy - 1) / busy);
  }
  return std::max<std::int64_t>(1, most);
}

void IterationHost::repeat(std::int64_t more) {
  waited += waiting.empty() || waited == 0 ? 0 : more;
  if (q->waits_for_ranks > 0 && unbalanced > 0) {
    unbalanced = (unbalanced + more) % q->waits_for_ranks;
  }
}

Seconds IterationHost::take(Seconds now, double tokens) {
  send_until(now);
  Seconds& process = free[next_free++ % free.size()];
  process = base::max(process, now) + q->take + q->take_token * tokens;
  return process;
}

std::int64_t IterationMicroBatch::places() const {
  return sum(std::span<const IterationStation>(ranks), &IterationStation::places);
}
std::int64_t IterationMicroBatch::decoding() const {
  return sum(std::span<const IterationStation>(ranks), &IterationStation::decodes);
}
bool IterationMicroBatch::has_work() const {
  return std::ranges::any_of(
      ranks, [](const IterationStation& s) { return s.decodes > 0 || s.partial >= 0; });
}
bool IterationMicroBatch::has_prompts() const {
  return std::ranges::any_of(ranks, [](const IterationStation& s) { return s.work.prompts > 0; });
}
bool IterationMicroBatch::any_leaves() const {
  return std::ranges::any_of(ranks, [](const IterationStation& s) { return !s.leaving.empty(); });
}

void IterationMicroBatch::free_leaving() {
  for (IterationStation& s : ranks) {
    s.free_leaving();
  }
}

// Between the first of these iterations and the last, the front end works on none or on those of all micro-batches.
void IterationHost::send_until(Seconds now) {
  Seconds from = kNever;
  Seconds to;
  Seconds all;
  for (IterationMicroBatch& b : batches) {
    const std::int64_t upto = b.end < kNever ? b.ended_by(now) : b.sent;
    if (upto > b.sent) {
      const Seconds work = q->send * (static_cast<double>(b.decodes) * q->gains);
      from = base::min(from, b.began + b.each * static_cast<double>(b.sent + 1));
      to = base::max(to, b.began + b.each * static_cast<double>(upto) + work);
      all += static_cast<double>(upto - b.sent) * work;
      b.sent = upto;
    }
  }
  if (from < kNever) {
    for (Seconds& process : free) {
      process = base::max(base::max(process, from) + all, to);
    }
  }
}

Seconds IterationHost::send(Seconds now, double tokens) {
  Seconds all = now;
  for (Seconds& process : free) {
    process = base::max(process, now) + q->send * tokens;
    all = base::max(all, process);
  }
  return all;
}

double IterationStation::promise(const IterationJob& job, double known, double computed) const {
  const double answer = batch->host->hands_over ? 1.0 : static_cast<double>(job.left) * q().gains;
  return q().promised < 0.0 ? computed : known + std::ceil(q().promised * answer);
}

void IterationStation::admit(Id id, double promised) {
  IterationJob& j = job(id);
  ++places;
  ++room->places;
  admitted.push_back(id);
  j.state = State::prompt;
  j.promised = promised;
  j.held = 0.0;
  room->used += q().takes(0.0);
  room->committed += q().takes(promised);
  hold(j, j.cached);
}

double IterationStation::known(Id id) {
  const IterationJob& j = job(id);
  return j.turn == 0 ? j.cached
                     : std::max(j.cached, std::min(room->idle.of(id), j.cached + j.missing - 1.0));
}

void IterationStation::find(Id id) {
  IterationJob& j = job(id);
  const double tokens = known(id);
  j.missing -= tokens - j.cached;
  j.cached = tokens;
  if (j.turn > 0) {
    j.again = room->idle.of(id);
    room->idle.remove(id, q());
  }
}

// More tokens of a prompt in the cache.
void IterationStation::hold(IterationJob& job, double tokens) {
  const double before = job.held;
  job.held += tokens;
  room->tokens += tokens;
  room->used += q().takes(job.held) - q().takes(before);
  room->committed +=
      q().takes(std::max(job.held, job.promised)) - q().takes(std::max(before, job.promised));
  evict_beyond();
}

void IterationStation::compute(Id id, double tokens) {
  IterationJob& j = job(id);
  hold(j, tokens);
  left -= tokens;
  work.tokens += tokens;
  work.attended += tokens * (j.cached + 0.5 * tokens);
  ++work.prompts;
  j.cached += tokens;
  j.missing -= tokens;
  partial = j.missing > 0.0 ? id : -1;
  if (partial < 0) {
    complete.push_back(id);
  }
}

void IterationStation::decode(Id id) {
  IterationJob& j = job(id);
  j.state = State::decodes;
  j.since = iteration;
  ++decodes;
  push({iteration + j.left, id, j.turn, Event::Kind::ends});
  const auto at = [&](double tokens, auto go, Event::Kind kind) {
    const double iterations = std::ceil((tokens - j.held) / q().gains);
    if (iterations <= 0.0) {
      (this->*go)(j);
    } else if (iterations < static_cast<double>(j.left)) {
      push({iteration + static_cast<std::int64_t>(iterations), id, j.turn, kind});
    }
  };
  at(q().window, &IterationStation::go_past, Event::Kind::past);
  at(j.promised, &IterationStation::go_beyond, Event::Kind::beyond);
}

void IterationStation::push(Event event) {
  events_.push_back(event);
  std::push_heap(events_.begin(), events_.end());
}
void IterationStation::pop() {
  std::pop_heap(events_.begin(), events_.end());
  events_.pop_back();
}

std::int64_t IterationStation::next_event() {
  while (!events_.empty()) {
    const Event& top = events_.front();
    const IterationJob& j = job(top.job);
    if (top.turn == j.turn && j.state == State::decodes) {
      return top.at;
    }
    pop();
  }
  return std::numeric_limits<std::int64_t>::max();
}

void IterationStation::advance(std::int64_t count, std::vector<Id>& ended) {
  iteration += count;
  const auto times = static_cast<double>(count);
  room->tokens += times * static_cast<double>(decodes) * q().gains;
  room->used += times * growth();
  room->committed += times * grown_by(beyond, both);
  evict_beyond();
  while (next_event() <= iteration) {
    const Event event = events_.front();
    pop();
    if (event.kind == Event::Kind::ends) {
      stop(job(event.job));
      ended.push_back(event.job);
    } else if (event.kind == Event::Kind::past) {
      go_past(job(event.job));
    } else {
      go_beyond(job(event.job));
    }
  }
}

// From now on a sequence takes more than it was promised. What it has taken of that since it decodes is not counted yet.
void IterationStation::go_beyond(IterationJob& job) {
  room->committed += q().takes(held(job)) - q().takes(std::max(job.promised, job.held));
  job.beyond = true;
  ++beyond;
  both += job.past ? 1 : 0;
}

// From now on it takes less for a token. It was counted as if it took as much for each since it decodes.
void IterationStation::go_past(IterationJob& job) {
  const double less = (1.0 - q().beyond) * (held(job) - std::max(q().window, job.held));
  room->used -= less;
  room->committed -= job.beyond ? less : 0.0;
  job.past = true;
  ++past;
  both += job.beyond ? 1 : 0;
}

// Tokens of a sequence in the cache.
double IterationStation::held(const IterationJob& job) const {
  return job.held + (job.state == State::decodes
                         ? static_cast<double>(iteration - job.since) * q().gains
                         : 0.0);
}

void IterationStation::stop(IterationJob& job) {
  if (!job.past && held(job) > q().window) {
    go_past(job);
  }
  if (!job.beyond && held(job) > job.promised) {
    go_beyond(job);
  }
  job.held = held(job);
  job.left -= iteration - job.since;
  job.state = State::prompt;
  both -= job.beyond && job.past ? 1 : 0;
  beyond -= job.beyond ? 1 : 0;
  past -= job.past ? 1 : 0;
  job.beyond = job.past = false;
  --decodes;
}

void IterationStation::release(Id id) {
  const IterationJob& j = job(id);
  room->tokens -= j.held;
  room->used -= q().takes(j.held);
  room->committed -= q().takes(std::max(j.held, j.promised));
  --room->places;
  --places;
}

void IterationStation::end(Id id) {
  if (q().delayed_release) {
    leaving.push_back(id);
  } else {
    leave(id);
  }
}

// Only what lost its place is found by its own tokens.
void IterationStation::leave(Id id) {
  release(id);
  room->idle.add(id, job(id).again, q());
}

void IterationStation::free_leaving() {
  for (const Id id : leaving) {
    leave(id);
  }
  leaving.clear();
}

bool IterationStation::preempt_for_decodes() {
  bool lost = false;
  while (decodes > 1 && room->used + growth() > q().cache) {
    preempt();
    lost = true;
  }
  return lost;
}

std::size_t IterationStation::victim() {
  const auto runs = [&](Id id) {
    return job(id).state == State::decodes || job(id).state == State::prompt;
  };
  while (!admitted.empty() && !runs(admitted.back())) {
    admitted.pop_back();
  }
  if (!q().by_priority || admitted.empty()) {
    return admitted.empty() ? 0 : admitted.size() - 1;
  }
  std::erase_if(admitted, [&](Id id) { return !runs(id); });
  const auto rather = [&](Id a, Id b) {
    return job(a).priority != job(b).priority ? job(a).priority < job(b).priority : a > b;
  };
  return static_cast<std::size_t>(std::ranges::min_element(admitted, rather) - admitted.begin());
}

// A sequence loses its place: the one that was admitted last, or the least urgent one.
void IterationStation::preempt() {
  const std::size_t which = victim();
  if (which >= admitted.size()) {
    return;
  }
  const Id id = admitted[which];
  admitted.erase(admitted.begin() + static_cast<std::ptrdiff_t>(which));
  IterationJob& j = job(id);
  if (j.state == State::decodes) {
    stop(j);
  }
  const double known = j.cached + j.missing > j.held ? j.cached + j.missing : j.held;
  j.cached = std::min(j.reused, known - 1.0);
  j.missing = known - j.cached;
  partial = partial == id ? -1 : partial;
  release(id);
  room->idle.add(id, j.held, q());
  j.state = State::waits;
  j.held = j.again = 0.0;
  ++j.turn;
  batch->host->wait(id, true);
}

}  // namespace roofcast::base::queueing
