// SPDX-License-Identifier: Apache-2.0
//
// One server of base/queueing/iteration_servers.hpp: its front end and the caches of its ranks; its micro-batches, with the
// iterations that run; and the sequences of a micro-batch on a rank.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "base/queueing/idle_tokens.hpp"
#include "base/queueing/iteration_server.hpp"

namespace roofcast::base::queueing {

struct IterationHost;
struct IterationMicroBatch;
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
  double reused = 0;  // tokens that were computed before it came
  double again = 0;   // tokens in the cache that it computed before it lost its place
  std::int64_t since = 0;
  std::int64_t left = 0;  // tokens of the answer
  std::int32_t turn = 0;  // how often it lost its place
  std::int32_t priority = 0;
  IterationStation* from = nullptr;  // of the first pool, which keeps its tokens
  double kept = 0;                   // of the cache there, and the larger of that and the promise
  double kept_promise = 0;
  State state = State::waits;
  bool started = false;
  bool beyond = false;  // it decodes and holds at least what it was promised
  bool past = false;    // it decodes and holds at least the window
};

// What the micro-batches of a server share on one rank.
struct IterationRoom {
  std::int64_t places = 0;  // taken
  double tokens = 0;        // that its sequences hold
  double used = 0;          // of the cache
  double committed = 0;     // the larger of used and promised, of all sequences
  IdleTokens idle;          // of sequences that lost their places here
  Seconds link;             // when the link to the second pool is free

  bool has(double sequence, const IterationServer& q) const {
    return places < q.sequences && (committed <= 0.5 || committed + q.takes(sequence) <= q.cache);
  }
};

// A micro-batch on one rank.
struct IterationStation {
  using Id = std::int32_t;

  IterationMicroBatch* batch = nullptr;
  IterationRoom* room = nullptr;
  std::vector<Id> complete;  // prompts that the iterations which run complete
  bool decoded = false;      // they have decodes

  std::int64_t decodes = 0;    // sequences
  std::int64_t iteration = 0;  // of decodes, so far
  std::int64_t places = 0;     // taken
  std::int64_t beyond = 0;     // sequences that hold more than they were promised
  std::int64_t past = 0;       // than the window
  std::int64_t both = 0;
  Id partial = -1;           // the prompt that is computed in part
  std::vector<Id> admitted;  // in this order
  std::vector<Id> leaving;   // sequences that keep their places for one iteration more
  // Of the iteration that is planned:
  double left = 0;  // of its budget
  IterationBatch work;

  const IterationServer& q() const;
  IterationJob& job(Id id);

  // Tokens promised to a sequence with so many known ones, whose next iteration computes the last of so many.
  double promise(const IterationJob& job, double known, double computed) const;
  // What an iteration of those that decode adds to the cache.
  double growth() const { return grown_by(decodes, past); }
  // Takes a place, and promises.
  void admit(Id id, double promised);
  void compute(Id id, double tokens);
  // Tokens of a sequence that waits which this rank has: what came with it, or what it left here when it lost its place.
  double known(Id id);
  // It takes them.
  void find(Id id);
  void decode(Id id);
  void stop(IterationJob& job);  // to decode
  void release(Id id);           // its place
  void end(Id id);               // it has its answer
  void free_leaving();
  // Whether sequences had to go so that all that decode may grow.
  bool preempt_for_decodes();
  // The iteration of decodes in which something happens to a sequence next.
  std::int64_t next_event();
  // The decodes of so many iterations that ran. Those that have their last token are added to `ended`.
  void advance(std::int64_t count, std::vector<Id>& ended);

 private:
  // In iteration `at` of the decodes, a sequence has its last token, or begins to hold more than it was promised or than
  // the window.
  struct Event {
    enum class Kind : std::uint8_t { ends, beyond, past };
    std::int64_t at;
    Id job;
    std::int32_t turn;
    Kind kind;
    bool operator<(const Event& other) const { return at > other.at; }  // the first one on top
  };
  std::vector<Event> events_;  // a heap

  void push(Event event);
  void pop();
  double grown_by(std::int64_t sequences, std::int64_t of_these_past) const;
  double held(const IterationJob& job) const;
  void go_beyond(IterationJob& job);
  void go_past(IterationJob& job);
  void hold(IterationJob& job, double tokens);
  void evict_beyond() { room->idle.evict_beyond(room->used, q()); }
  void leave(Id id);
  void preempt();
  std::size_t victim();  // its place among the admitted ones; their number where there is none
};

// A micro-batch on all ranks, and the iterations of it that run, all alike.
struct IterationMicroBatch {
  static constexpr Seconds kNever = Seconds::infinity();

  IterationHost* host = nullptr;
  std::span<IterationStation> ranks;
  Seconds end = kNever;  // kNever if none run
  Seconds began;
  Seconds each;
  std::int64_t count = 0;
  std::int64_t decodes = 0;  // of an iteration, on all ranks
  std::int64_t sent = 0;     // iterations whose tokens the front end has
  bool mixed = false;        // they have prompts

  std::int64_t places() const;
  std::int64_t decoding() const;  // sequences
  bool has_work() const;
  bool has_prompts() const;  // in the iteration that is planned
  bool any_leaves() const;
  void free_leaving();
  // Of those that run, without the last one.
  std::int64_t ended_by(Seconds now) const {
    return std::min(static_cast<std::int64_t>((now - began) / each), count - 1);
  }
};

// A server.
struct IterationHost {
  static constexpr Seconds kNever = Seconds::infinity();
  static constexpr Seconds kSame = base::nanosecond;  // times that are one, but for rounding
  using Id = std::int32_t;

  const IterationServer* q = nullptr;
  std::vector<IterationJob>* jobs = nullptr;
  std::vector<IterationRoom> rooms;        // of each rank
  std::vector<IterationStation> stations;  // of each micro-batch on each rank
  std::vector<IterationMicroBatch> batches;
  bool hands_over = false;   // sequences decode in the second pool
  Seconds stage;             // when the first stage is free
  Seconds wake = kNever;     // when it is free, if a micro-batch waits for that
  Seconds next = kNever;     // when it has something to do
  bool due = false;          // it begins iterations now
  std::size_t last = 0;      // the micro-batch that began last
  Seconds blocked = kNever;  // since when no place or no cache is free
  std::deque<Id> incoming;   // in the front end, or on the link
  std::deque<Id> waiting;
  std::int64_t load = 0;  // requests that it has, without those that are done
  // Iterations one after the other, in which it waited for more prompts, for one on each rank, and did not look for any.
  std::int64_t waited = 0;
  std::int64_t unbalanced = 0;
  std::int64_t unlooked = 0;
  bool had_prompts = false;     // the last iteration
  std::ptrdiff_t received = 0;  // of those that come: for the next plan

  std::vector<Seconds> free;  // when each process of the front end is
  std::size_t next_free = 0;

  // It must stay where it is afterwards.
  void set_up(const IterationServer& server, bool hands_over, std::vector<IterationJob>& jobs);
  IterationJob& job(Id id) { return (*jobs)[static_cast<std::size_t>(id)]; }
  void comes(Id id);  // in the order of `queued`
  // Requests that have come wait from now on, if the server looks for them before it plans for a micro-batch.
  void look(const IterationMicroBatch& batch, Seconds now);
  void wait(Id id, bool again);  // `again`: it lost its place
  // Whether no request is let in by the iteration that is planned.
  bool holds_back(const IterationMicroBatch& batch);
  // How many iterations without prompts have the same answer, and that so many of them ran after the planned one.
  std::int64_t same_answers() const;
  void repeat(std::int64_t more);
  // When the front end has taken a request in.
  Seconds take(Seconds now, double tokens);
  // Tokens of iterations that have ended by `now` go through the front end, without those of the last ones that run.
  void send_until(Seconds now);
  // When the front end has sent so many tokens of now.
  Seconds send(Seconds now, double tokens);

  Seconds next_end() const;
  bool is_idle() const;  // a micro-batch is
  bool plans_ahead() const { return q->plans_ahead && batches.size() == 1; }
  // When the iterations that begin at `now` were planned: at the start of the last one before, if something runs.
  Seconds plan_of(Seconds now) const;
  std::int64_t places() const;
  double held_each() const;  // tokens of a place, mean
  // An iteration without prompts, with what C − c adds to it.
  IterationSpan with_contexts(IterationSpan span) const;

 private:
  bool waits_for_more(const IterationMicroBatch& batch);
  bool waits_for_ranks(const IterationMicroBatch& batch);
  bool one_for_each_rank() const;
};

inline const IterationServer& IterationStation::q() const { return *batch->host->q; }
inline IterationJob& IterationStation::job(Id id) { return batch->host->job(id); }
inline double IterationStation::grown_by(std::int64_t sequences, std::int64_t of_these_past) const {
  return (static_cast<double>(sequences) -
          (1.0 - q().beyond) * static_cast<double>(of_these_past)) *
         q().gains;
}

}  // namespace roofcast::base::queueing
