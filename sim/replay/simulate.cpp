// SPDX-License-Identifier: Apache-2.0
#include "sim/replay/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>

#include "sim/iteration/draft_model.hpp"
#include "sim/iteration/front_models.hpp"
#include "sim/iteration/replica_iterations.hpp"
#include "sim/replay/agenda.hpp"
#include "sim/replay/front_stages.hpp"
#include "sim/replay/routing.hpp"
#include "sim/replay/simulated_pools.hpp"
#include "sim/replay/timeline.hpp"

namespace roofcast::sim {
namespace {

constexpr base::Seconds kNever = base::Seconds::infinity();
constexpr double kMostDays = 100.0;  // every second of a simulation is kept
constexpr base::Seconds kLongest = kMostDays * 86400.0 * base::second;

// Replicas that do the same work.
struct Pool {
  Pool(const ScenarioView& s, base::Bytes cache, std::shared_ptr<ReplicaIterations> iterations)
      : times(std::move(iterations)), routing(s.serving->router) {
    const auto count = static_cast<std::size_t>(s.serving->replicas);
    replicas.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      replicas.emplace_back(s, cache);
    }
  }
  std::shared_ptr<ReplicaIterations> times;
  Routing routing;
  std::vector<Replica> replicas;
};

class Loop {
 public:
  // `pools` has one pool, or the prefill and the decode pool, each with the KV cache of a rank.
  Loop(const ScenarioView& s, const workloads::Requests& requests,
       const std::vector<workloads::Stage>& stages, std::int64_t concurrency,
       std::span<const SimulatedPool> pools, KeptIterations& kept, Simulation& result)
      : scenario_(s),
        stream_(requests),
        stages_(stages, requests),
        closed_(concurrency > 0),
        disaggregated_(pools.size() > 1),
        replicas_(replicas_of(pools)),
        agenda_(replicas_),
        timeline_(result.seconds, replicas_),
        result_(result) {
    pools_.reserve(pools.size());
    for (const SimulatedPool& pool : pools) {
      pools_.emplace_back(pool.scenario, pool.cache,
                          disaggregated_ ? std::make_shared<ReplicaIterations>(pool.scenario)
                                         : kept.of(pool.scenario));
    }
    result_.requests.reserve(requests.requests.size());
    for (const workloads::Request& request : requests.requests) {
      ServedRequest served;
      served.arrival = closed_ ? base::Seconds{} : request.arrival;
      served.input_tokens = request.input_tokens;
      served.output_tokens = request.output_tokens;
      served.priority = request.priority;
      served.session = request.session;
      served.task = request.task;
      result_.requests.push_back(served);
    }
    follows_.resize(requests.follow_ups.empty() ? 0 : result_.requests.size());
    for (const workloads::FollowUp& each : requests.follow_ups) {
      ++follows_[static_cast<std::size_t>(each.request)];
      request_of(each.after).tools = each.delay;
    }
    const std::size_t clients =
        closed_ ? std::min(static_cast<std::size_t>(concurrency), stream_.requests.size())
                : stream_.requests.size();
    for (std::size_t i = 0; i < clients; ++i) {
      send_next(thinking());
    }
  }

  void run() {
    for (;;) {
      const std::span<const std::size_t> tried = agenda_.take_touched();
      for (const std::size_t each : tried) {
        start_micro_batches(each);
      }
      const base::Seconds next = next_event();
      if (next == kNever) {
        break;
      }
      if (next > kLongest) {
        result_.reason = fmt::format(
            "the requests take more than {} days, the most that is simulated", kMostDays);
        return;
      }
      count(tried);
      count(agenda_.touched());
      timeline_.pass(now_, next);
      now_ = next;
      for (const std::size_t each : agenda_.due(now_)) {
        complete_micro_batches(pool_of(each), replica(each));
        agenda_.touch(each);
      }
      take_arrivals();
      deliver_caches();
      deliver();
    }
    result_.end = std::max(now_, last_sent_);
  }

 private:
  static std::size_t replicas_of(std::span<const SimulatedPool> pools) {
    std::size_t sum = 0;
    for (const SimulatedPool& pool : pools) {
      sum += static_cast<std::size_t>(pool.scenario.serving->replicas);
    }
    return sum;
  }

  // Brings the timeline up to date.
  void count(std::span<const std::size_t> changed) {
    for (const std::size_t each : changed) {
      const Scheduler& scheduler = replica(each).scheduler;
      timeline_.count(each, each < pools_.front().replicas.size() ? 0 : 1,
                      {scheduler.running(), scheduler.waiting(), scheduler.cache_used(),
                       scheduler.cache_capacity()});
    }
  }

  // A replica by its number: those of the first pool, then those of the second.
  Pool& pool_of(std::size_t number) {
    return number < pools_.front().replicas.size() ? pools_.front() : pools_.back();
  }
  Replica& replica(std::size_t number) {
    const std::size_t first = pools_.front().replicas.size();
    return number < first ? pools_.front().replicas[number]
                          : pools_.back().replicas[number - first];
  }
  std::size_t decode_number(const ServedRequest& request) const {
    return replicas_ - pools_.back().replicas.size() +
           static_cast<std::size_t>(request.decode_replica);
  }

  base::Seconds next_event() const {
    base::Seconds next = agenda_.next();
    if (!transfers_.empty()) {
      next = std::min(next, std::get<base::Seconds>(transfers_.top()));
    }
    if (!sent_.empty()) {
      next = std::min(next, std::get<base::Seconds>(sent_.top()));
    }
    if (!taken_.empty()) {
      next = std::min(next, std::get<base::Seconds>(taken_.top()));
    }
    return next;
  }

  Job job_of(std::size_t index) const {
    const workloads::Request& request = stream_.requests[index];
    Job job;
    job.id = static_cast<std::int32_t>(index);
    job.input_tokens = request.input_tokens;
    job.output_tokens = request.output_tokens;
    job.priority = request.priority;
    job.session = request.session;
    job.cached_tokens = std::min(scenario_.traffic->cached_tokens, request.input_tokens - 1);
    job.prefix = {stream_.blocks_of(request), index + 1,
                  stream_.block_tokens > 0 ? stream_.block_tokens : kUnitTokens};
    job.publishes_answer = stream_.blocks_have_answers;
    return job;
  }

  ServedRequest& request_of(std::int32_t id) {
    return result_.requests[static_cast<std::size_t>(id)];
  }
  const ServedRequest& request_of(std::int32_t id) const {
    return result_.requests[static_cast<std::size_t>(id)];
  }

  void take_arrivals() {
    while (!sent_.empty() && std::get<base::Seconds>(sent_.top()) <= now_) {
      const auto [time, id] = sent_.top();
      sent_.pop();
      const auto index = static_cast<std::size_t>(id);
      Pool& pool = pools_.front();
      if (!stages_.all_passed(index)) {
        const Stages::Passed passed = stages_.pass(index, time);
        sent_.emplace(passed.beside ? run_beside(pool, passed.time) : passed.time, id);
        continue;
      }
      ServedRequest& request = request_of(id);
      const std::size_t to = pool.routing(pool.replicas, job_of(index));
      request.replica = static_cast<std::int32_t>(to);
      ++pool.replicas[to].incoming;
      request.queued = pool.replicas[to].front_end.take(time, request.input_tokens);
      taken_.emplace(request.queued, id);
    }
  }

  // A pass of another model on the GPUs of the replica that is first free. It begins between two iterations, as soon as
  // the first pipeline stage is free. Returns its end.
  base::Seconds run_beside(Pool& pool, base::Seconds pass) {
    Replica& replica = *std::min_element(
        pool.replicas.begin(), pool.replicas.end(),
        [](const Replica& a, const Replica& b) { return a.stage_free < b.stage_free; });
    replica.stage_free = std::max(replica.stage_free, now_) + pass;
    timeline_.add_busy(replica.stage_free - pass, std::min(replica.stage_free, kLongest));
    return replica.stage_free;
  }

  // Requests that a front end has taken in join the queue of its replica.
  void deliver() {
    while (!taken_.empty() && std::get<base::Seconds>(taken_.top()) <= now_) {
      const auto id = std::get<std::int32_t>(taken_.top());
      taken_.pop();
      ServedRequest& request = request_of(id);
      Replica& replica = pools_.front().replicas[static_cast<std::size_t>(request.replica)];
      --replica.incoming;
      const Job job = job_of(static_cast<std::size_t>(id));
      const Job first = disaggregated_ ? prompt_of(job) : job;
      if (request.input_tokens + request.output_tokens > scenario_.model->max_context ||
          !pools_.front().replicas.front().scheduler.can_ever_run(first) ||
          !pools_.back().replicas.front().scheduler.can_ever_run(job)) {
        request.rejected = true;
        answered(id, now_);
        continue;
      }
      replica.scheduler.enqueue(first);
      agenda_.touch(static_cast<std::size_t>(request.replica));
    }
  }

  // The part of a job that a prefill replica does: the prompt and one token.
  static Job prompt_of(Job job) {
    job.keeps_cache = job.output_tokens > 1;
    job.output_tokens = 1;
    return job;
  }

  // A prompt is complete. Its KV cache is sent to a decode replica.
  void send_cache(Replica& from, std::int32_t id) {
    ServedRequest& request = result_.requests[static_cast<std::size_t>(id)];
    Pool& pool = pools_.back();
    const std::size_t to = pool.routing(pool.replicas, job_of(static_cast<std::size_t>(id)));
    request.decode_replica = static_cast<std::int32_t>(to);
    ++pool.replicas[to].incoming;
    base::Seconds& free = from.link_free[from.scheduler.rank_of(id)];
    free = std::max(free, now_) +
           kv_transfer(scenario_, static_cast<double>(request.input_tokens)).time;
    transfers_.emplace(free, id);
  }

  // Requests whose KV caches have arrived join the queue of a decode replica.
  void deliver_caches() {
    while (!transfers_.empty() && std::get<base::Seconds>(transfers_.top()) <= now_) {
      const auto index = static_cast<std::size_t>(std::get<std::int32_t>(transfers_.top()));
      transfers_.pop();
      ServedRequest& request = result_.requests[index];
      request.transferred = now_;
      Job job = job_of(index);
      job.generated = 1;
      Replica& replica = pools_.back().replicas[static_cast<std::size_t>(request.decode_replica)];
      --replica.incoming;
      replica.scheduler.enqueue(job);
      agenda_.touch(decode_number(request));
    }
  }

  // Thinking time of a client before its next request.
  base::Seconds thinking() const { return drawn(stream_.think, stream_.seed, next_, "think"); }

  // Sends the next request that follows none: at `now` in a closed loop, at its own time in an open loop.
  void send_next(base::Seconds now) {
    while (next_ < follows_.size() && follows_[next_] != 0) {
      ++next_;
    }
    if (next_ < result_.requests.size()) {
      ServedRequest& request = result_.requests[next_];
      request.arrival = closed_ ? now : request.arrival;
      sent_.emplace(request.arrival, static_cast<std::int32_t>(next_++));
    }
  }

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
      ServedRequest& request = request_of(each->request);
      request.arrival = std::max(request.arrival, now + each->delay);
      std::int32_t& follows = follows_[static_cast<std::size_t>(each->request)];
      if (--follows == 0) {
        follows = kSent;
        sent_.emplace(request.arrival, each->request);
      }
    }
  }

  bool answers(const Pool& pool) const { return disaggregated_ && &pool == &pools_.back(); }
  bool prompts(const Pool& pool) const { return disaggregated_ && &pool == &pools_.front(); }

  void start_micro_batches(std::size_t number) {
    Replica& each = replica(number);
    start_micro_batches(pool_of(number), each, number);
    if (const base::Seconds load = each.scheduler.next_load(); load > now_ && load < kNever) {
      agenda_.at(load, number);
    }
  }

  void start_micro_batches(const Pool& pool, Replica& replica, std::size_t number) {
    const std::size_t micro_batches = replica.ends.size();
    const std::size_t first = replica.last_micro_batch + 1;
    for (std::size_t tried = 0; tried < micro_batches; ++tried) {
      const std::size_t micro_batch = (first + tried) % micro_batches;
      if (replica.scheduler.in_flight(micro_batch)) {
        continue;
      }
      if (replica.stage_free > now_) {
        agenda_.at(replica.stage_free, number);
        return;
      }
      const std::span<const Iteration> iterations = replica.scheduler.schedule(micro_batch, now_);
      for (const std::int32_t id : replica.scheduler.preempted()) {
        ++result_.requests[static_cast<std::size_t>(id)].preemptions;
        ++result_.preemptions;
      }
      if (iterations.empty()) {
        continue;
      }
      for (const Scheduler::Start& start : replica.scheduler.started()) {
        ServedRequest& request = result_.requests[static_cast<std::size_t>(start.id)];
        if (answers(pool)) {
          request.first_token = send(replica, 1);
          const auto from = static_cast<std::size_t>(request.replica);
          this->replica(from).scheduler.release(start.id);
          agenda_.touch(from);
        } else {
          request.scheduled = now_;
          request.reused_tokens = start.reused_tokens;
          request.restored_tokens = start.restored_tokens;
        }
      }
      start(pool, replica, micro_batch, iterations);
      agenda_.at(replica.ends[micro_batch], number);
    }
  }

  // When clients have the tokens of an iteration that ends now.
  base::Seconds send(Replica& replica, std::int64_t tokens) {
    const base::Seconds sent = replica.front_end.send(now_, tokens);
    last_sent_ = std::max(last_sent_, sent);
    return sent;
  }

  void start(const Pool& pool, Replica& replica, std::size_t micro_batch,
             std::span<const Iteration> iterations) {
    const IterationTime time = (*pool.times)(iterations);
    replica.ends[micro_batch] = now_ + time.latency;
    replica.stage_free = now_ + time.period;
    timeline_.add_busy(now_, std::min(replica.stage_free, kLongest));
    replica.last_micro_batch = micro_batch;
    replica.tokens[micro_batch] = 0;
    for (const Iteration& iteration : iterations) {
      replica.tokens[micro_batch] += iteration.prompt_tokens;
    }
    ++result_.iterations;
    result_.peak_running =
        std::max(result_.peak_running, static_cast<std::int64_t>(replica.scheduler.running()));
    result_.peak_cache = std::max(result_.peak_cache, replica.cache_share());
  }

  void complete_micro_batches(const Pool& pool, Replica& replica) {
    for (std::size_t micro_batch = 0; micro_batch < replica.ends.size(); ++micro_batch) {
      if (replica.ends[micro_batch] > now_) {
        continue;
      }
      replica.ends[micro_batch] = kNever;
      replica.scheduler.complete(micro_batch);
      // A prefill pool sends no tokens to clients. The decode pool sends the first token later.
      const base::Seconds sent = prompts(pool) ? now_ : send(replica, replica.scheduler.tokens());
      for (const std::int32_t id : replica.scheduler.first_tokens()) {
        ServedRequest& request = result_.requests[static_cast<std::size_t>(id)];
        request.first_token = sent;
        request.prefilled = disaggregated_ ? now_ : base::Seconds{};
      }
      for (const std::int32_t id : replica.scheduler.finished()) {
        ServedRequest& request = result_.requests[static_cast<std::size_t>(id)];
        if (prompts(pool) && request.output_tokens > 1) {
          send_cache(replica, id);
          continue;
        }
        request.last_token = sent;
        answered(id, sent);
      }
      SimulatedSecond& second = timeline_.at(now_);
      second.prompt_tokens += replica.tokens[micro_batch];
      second.output_tokens += replica.scheduler.tokens();
    }
  }

  static constexpr std::int32_t kSent = -1;
  static constexpr std::int64_t kUnitTokens = 64;  // of prefixes, if the stream names no blocks

  ScenarioView scenario_;
  const workloads::Requests& stream_;
  Stages stages_;
  base::Seconds last_sent_;  // when clients have the tokens of all iterations so far
  bool closed_;
  bool disaggregated_;
  std::vector<Pool> pools_;
  std::size_t replicas_;  // of all pools
  Agenda agenda_;
  Timeline timeline_;
  // (time at which a KV cache or a request arrives, or a front end is done with it, its request); the earliest on top.
  using Coming = std::tuple<base::Seconds, std::int32_t>;
  std::priority_queue<Coming, std::vector<Coming>, std::greater<>> transfers_;
  base::Seconds now_;
  std::size_t next_ = 0;  // the next request that may follow none
  // Number of answers for which each request waits; kSent after the last. Empty if no request follows another.
  std::vector<std::int32_t> follows_;
  std::priority_queue<Coming, std::vector<Coming>, std::greater<>> sent_;
  std::priority_queue<Coming, std::vector<Coming>, std::greater<>> taken_;  // by a front end
  Simulation& result_;
};

}  // namespace

Simulation simulate(const ScenarioView& scenario, const workloads::Requests& requests,
                    std::int64_t concurrency) {
  KeptIterations none;
  return simulate(scenario, requests, concurrency, none);
}

Simulation simulate(const ScenarioView& scenario, const workloads::Requests& requests,
                    std::int64_t concurrency, KeptIterations& kept) {
  ScenarioView s = scenario;
  Simulation result;
  const FrontModels front = front_models_of(s);
  s.front = &front;
  std::unique_ptr<const DraftModel> draft;
  std::optional<PoolScenarios> two;
  std::vector<SimulatedPool> pools;
  if (s.pools != nullptr) {
    two.emplace(s);
    draft = draft_model_of(two->decode());
    two->draft_with(draft.get());
    pools = {{two->prefill(), PoolKind::prefill, {}}, {two->decode(), PoolKind::decode, {}}};
  } else {
    draft = draft_model_of(s);
    s.draft = draft.get();
    pools = {{s, PoolKind::none, {}}};
  }
  result.reason = check_pools(s, pools);
  if (!result.reason.empty()) {
    return result;
  }
  // Passes run by themselves.
  s.front = nullptr;
  for (SimulatedPool& pool : pools) {
    pool.scenario.front = nullptr;
  }
  Loop(s, requests, front.stages.empty() ? requests.stages : front.stages, concurrency, pools, kept,
       result)
      .run();
  return result;
}

}  // namespace roofcast::sim
