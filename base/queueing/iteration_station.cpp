// SPDX-License-Identifier: Apache-2.0
#include "base/queueing/iteration_station.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace roofcast::base::queueing {
namespace {

constexpr double kPart = 32.0;  // tokens of a sequence that lost its place and are not found again

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
  return sum(std::span<const IterationRoom>(rooms), &IterationRoom::used) /
         static_cast<double>(places());
}

void IterationHost::comes(Id id) {
  auto place = incoming.end();
  while (place != incoming.begin() && job(*std::prev(place)).queued > job(id).queued) {
    --place;
  }
  incoming.insert(place, id);
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
  room->used += q().each;
  room->committed += promised + q().each;
  hold(j, j.cached);
}

// More tokens of a prompt in the cache.
void IterationStation::hold(IterationJob& job, double tokens) {
  const double before = std::max(job.held, job.promised);
  job.held += tokens;
  room->used += tokens;
  room->committed += std::max(job.held, job.promised) - before;
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
  push({iteration + j.left, id, j.turn, true});
  const double unused = j.promised - j.held;
  j.beyond = unused <= 0.0;
  if (j.beyond) {
    ++beyond;
  } else if (unused < static_cast<double>(j.left) * q().gains) {
    push({iteration + static_cast<std::int64_t>(unused / q().gains), id, j.turn, false});
  }
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
  room->used += static_cast<double>(count * decodes) * q().gains;
  room->committed += static_cast<double>(count * beyond) * q().gains;
  while (next_event() <= iteration) {
    const Event event = events_.front();
    pop();
    if (event.ends) {
      stop(job(event.job));
      ended.push_back(event.job);
    } else {
      job(event.job).beyond = true;
      ++beyond;
    }
  }
}

// Tokens of a sequence in the cache.
double IterationStation::held(const IterationJob& job) const {
  return job.held +
         (job.state == State::decodes ? static_cast<double>(iteration - job.since) * q().gains : 0.0);
}

void IterationStation::stop(IterationJob& job) {
  job.held = held(job);
  job.left -= iteration - job.since;
  job.state = State::prompt;
  beyond -= job.beyond ? 1 : 0;
  job.beyond = false;
  --decodes;
}

void IterationStation::release(Id id) {
  const IterationJob& j = job(id);
  room->used -= j.held + q().each;
  room->committed -= std::max(j.held, j.promised) + q().each;
  --room->places;
  --places;
}

void IterationStation::free_leaving() {
  for (const Id id : leaving) {
    release(id);
  }
  leaving.clear();
}

bool IterationStation::preempt_for_decodes() {
  bool lost = false;
  while (decodes > 1 && room->used + static_cast<double>(decodes) * q().gains > q().cache) {
    preempt();
    lost = true;
  }
  return lost;
}

// The sequence that was admitted last loses its place.
void IterationStation::preempt() {
  while (!admitted.empty()) {
    const Id id = admitted.back();
    admitted.pop_back();
    IterationJob& j = job(id);
    if (j.state != State::decodes && j.state != State::prompt) {
      continue;
    }
    if (j.state == State::decodes) {
      stop(j);
    }
    const double known = j.cached + j.missing > j.held ? j.cached + j.missing : j.held;
    j.missing = q().computes_again ? known : std::max(j.missing, std::min(kPart, known));
    j.cached = known - j.missing;
    partial = partial == id ? -1 : partial;
    release(id);
    j.state = State::waits;
    j.held = 0.0;
    ++j.turn;
    batch->host->waiting.push_front(id);
    return;
  }
}

}  // namespace roofcast::base::queueing
