// SPDX-License-Identifier: Apache-2.0
//
// One server of base/queueing/iteration_servers.hpp: its cache and its front end; and its micro-batches, with their
// sequences and the iterations that run.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "base/queueing/iteration_server.hpp"

namespace roofcast::base::queueing {

struct IterationHost;
struct IterationStation;

// A request on its way.
struct IterationJob {
  enum class State : std::uint8_t { waits, prompt, decodes, done };
  Seconds arrival;
  Seconds queued;
  double input = 0;    // tokens
  double missing = 0;  // tokens of it that are to be computed before the next one of the answer
  double cached = 0;   // computed tokens before these
  double held = 0;     // tokens in the cache; while it decodes, at the iteration `since`
  double promised = 0;
  std::int64_t since = 0;
  std::int64_t left = 0;          // tokens of the answer
  std::int32_t turn = 0;          // how often it lost its place
  IterationHost* from = nullptr;  // of the first pool, which keeps its tokens
  double kept = 0;                // tokens there, and the larger of them and the promise
  double kept_promise = 0;
  State state = State::waits;
  bool started = false;
  bool beyond = false;  // it decodes and holds at least what it was promised
};

// Prompts of an iteration.
struct IterationWork {
  double tokens = 0;
  double attended = 0;
  std::int64_t prompts = 0;
};

// What the micro-batches of a server share.
struct IterationHost {
  static constexpr Seconds kNever = Seconds::infinity();
  using Id = std::int32_t;

  const IterationServer* q = nullptr;
  std::vector<IterationJob>* jobs = nullptr;
  std::span<IterationStation> batches;
  bool hands_over = false;   // sequences decode in the second pool
  Seconds link;              // when the link to it is free
  Seconds stage;             // when the first stage is free
  Seconds wake = kNever;     // when it is free, if a micro-batch waits for that
  Seconds next = kNever;     // when it has something to do
  bool due = false;          // it begins iterations now
  std::size_t last = 0;      // the micro-batch that began last
  std::int64_t places = 0;   // taken
  double used = 0;           // tokens of the cache
  double committed = 0;      // the larger of used and promised, of all sequences
  Seconds blocked = kNever;  // since when no place or no cache is free
  std::deque<Id> incoming;   // in the front end, or on the link
  std::deque<Id> waiting;
  std::int64_t load = 0;  // requests that it has, without those that are done

  std::vector<Seconds> free;  // when each process of the front end is
  std::size_t next_free = 0;

  IterationJob& job(Id id) { return (*jobs)[static_cast<std::size_t>(id)]; }
  void comes(Id id);  // in the order of `queued`
  // When the front end has taken a request in.
  Seconds take(Seconds now, double tokens);
  // When the front end has sent so many tokens of now.
  Seconds send(Seconds now, double tokens);
};

// A micro-batch.
struct IterationStation {
  static constexpr Seconds kNever = Seconds::infinity();
  using Id = std::int32_t;

  IterationHost* host = nullptr;

  // The iterations that run, all alike; they end at kNever if there are none.
  Seconds end = kNever;
  Seconds began;
  Seconds each;
  std::int64_t count = 0;
  std::int64_t sent = 0;     // of them, those whose tokens the front end has
  bool mixed = false;        // they have prompts
  bool decoded = false;      // they have decodes
  std::vector<Id> complete;  // prompts that they complete

  std::int64_t decodes = 0;    // sequences
  std::int64_t iteration = 0;  // of decodes, so far
  std::int64_t places = 0;     // taken
  std::int64_t beyond = 0;     // sequences that hold more than they were promised
  Id partial = -1;             // the prompt that is computed in part
  std::vector<Id> admitted;    // in this order
  std::vector<Id> leaving;     // sequences that keep their places for one iteration more

  const IterationServer& q() const { return *host->q; }
  IterationJob& job(Id id) { return host->job(id); }

  // Tokens of iterations that have ended by `now` go through the front end; those of the last one are complete()'s.
  void send_until(Seconds now);

  // Tokens promised to a sequence with so many known ones, whose next iteration computes the last of so many.
  double promise(const IterationJob& job, double known, double computed) const;
  // Takes a place, and promises.
  void admit(Id id, double promised);
  void compute(Id id, double tokens, IterationWork& work);
  void decode(Id id);
  void stop(IterationJob& job);  // to decode
  void release(Id id);           // its place
  void free_leaving();
  // Whether sequences had to go so that all that decode may grow.
  bool preempt_for_decodes();
  // The iteration of decodes in which something happens to a sequence next.
  std::int64_t next_event();
  // The decodes of the iterations that ran. Those that have their last token are added to `ended`.
  void advance(std::vector<Id>& ended);

 private:
  // In iteration `at` of the decodes, a sequence has its last token, or begins to hold more than it was promised.
  struct Event {
    std::int64_t at;
    Id job;
    std::int32_t turn;
    bool ends;
    bool operator<(const Event& other) const { return at > other.at; }  // the first one on top
  };
  std::vector<Event> events_;  // a heap

  void push(Event event);
  void pop();
  void send_up_to(std::int64_t iterations);
  double held(const IterationJob& job) const;
  void hold(IterationJob& job, double tokens);
  void preempt();
};

}  // namespace roofcast::base::queueing
