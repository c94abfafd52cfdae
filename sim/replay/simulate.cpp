// SPDX-License-Identifier: Apache-2.0
#include "sim/replay/simulate.hpp"
#include "sim/iteration/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "base/cancellation.hpp"
#include "sim/iteration/draft_model.hpp"
#include "sim/iteration/front_models.hpp"
#include "sim/iteration/replica_iterations.hpp"
#include "sim/replay/agenda.hpp"
#include "sim/replay/clients.hpp"
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
  Pool(const ScenarioView& s, base::Bytes cache, std::uint64_t seed,
       std::shared_ptr<ReplicaIterations> iterations)
      : times(std::move(iterations)), routing(s.serving->router) {
    const auto count = static_cast<std::size_t>(s.serving->replicas);
    replicas.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      replicas.emplace_back(s, cache, seed);
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
        disaggregated_(pools.size() > 1),
        replicas_(replicas_of(pools)),
        agenda_(replicas_),
        timeline_(result.seconds, replicas_),
        clients_(requests, concurrency, result.requests),
        result_(result) {
    pools_.reserve(pools.size());
    for (const SimulatedPool& pool : pools) {
      pools_.emplace_back(pool.scenario, pool.cache, requests.seed,
                          disaggregated_ ? std::make_shared<ReplicaIterations>(pool.scenario)
                                         : kept.of(pool.scenario));
    }
  }

  void run() {
    for (;;) {
      base::throw_if_cancelled();
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
        complete_micro_batches(each);
        agenda_.touch(each);
      }
      take_arrivals();
      deliver_caches();
      deliver();
    }
    for (std::size_t each = 0; each < replicas_; ++each) {
      count({&each, 1});
    }
    result_.peak_running = timeline_.peak_running();
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
      timeline_.count(each, now_,
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
    return std::min({agenda_.next(), transfers_.next(), clients_.next(), taken_.next()});
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
                  stream_.block_tokens > 0 ? stream_.block_tokens : kPrefixUnitTokens};
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
    while (clients_.next() <= now_) {
      const auto [time, id] = clients_.take();
      const auto index = static_cast<std::size_t>(id);
      Pool& pool = pools_.front();
      if (!stages_.all_passed(index)) {
        const Stages::Passed passed = stages_.pass(index, time);
        clients_.send(passed.beside ? run_beside(pool, passed.time) : passed.time, id);
        continue;
      }
      ServedRequest& request = request_of(id);
      const std::size_t to = route(pool, 0, index);
      request.replica = static_cast<std::int32_t>(to);
      catch_up(to);
      request.queued = pool.replicas[to].front_end.take(time, request.input_tokens);
      taken_.add(request.queued, id);
    }
  }

  // The replica of a pool that a request goes to. `first`: number of the pool's first replica.
  std::size_t route(Pool& pool, std::size_t first, std::size_t request) {
    if (pool.routing.looks_at_caches()) {
      for (std::size_t i = 0; i < pool.replicas.size(); ++i) {
        catch_up(first + i);
      }
    }
    const std::size_t to = pool.routing(pool.replicas, job_of(request));
    ++pool.replicas[to].incoming;
    return to;
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
    while (taken_.next() <= now_) {
      const std::int32_t id = taken_.take().id;
      ServedRequest& request = request_of(id);
      Replica& replica = pools_.front().replicas[static_cast<std::size_t>(request.replica)];
      --replica.incoming;
      const Job job = job_of(static_cast<std::size_t>(id));
      const Job first = disaggregated_ ? prompt_of(job) : job;
      if (request.input_tokens + request.output_tokens > scenario_.model->max_context ||
          !pools_.front().replicas.front().scheduler.can_ever_run(first) ||
          !pools_.back().replicas.front().scheduler.can_ever_run(job)) {
        request.rejected = true;
        clients_.answered(id, now_);
        continue;
      }
      enqueue(static_cast<std::size_t>(request.replica), first);
    }
  }

  void enqueue(std::size_t number, const Job& job) {
    catch_up(number, true);
    replica(number).scheduler.enqueue(job);
    agenda_.touch(number);
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
    request.decode_replica = static_cast<std::int32_t>(
        route(pools_.back(), pools_.front().replicas.size(), static_cast<std::size_t>(id)));
    base::Seconds& free = from.link_free[from.scheduler.rank_of(id)];
    free = std::max(free, now_) +
           kv_transfer(scenario_, static_cast<double>(request.input_tokens)).time;
    transfers_.add(free, id);
  }

  // Requests whose KV caches have arrived join the queue of a decode replica.
  void deliver_caches() {
    while (transfers_.next() <= now_) {
      const auto index = static_cast<std::size_t>(transfers_.take().id);
      ServedRequest& request = result_.requests[index];
      request.transferred = now_;
      Job job = job_of(index);
      job.generated = 1;
      --pools_.back().replicas[static_cast<std::size_t>(request.decode_replica)].incoming;
      enqueue(decode_number(request), job);
    }
  }

  bool answers(const Pool& pool) const { return disaggregated_ && &pool == &pools_.back(); }
  bool prompts(const Pool& pool) const { return disaggregated_ && &pool == &pools_.front(); }

  void start_micro_batches(std::size_t number) {
    Replica& each = replica(number);
    const bool blocked = start_micro_batches(pool_of(number), each);
    base::Seconds next = *std::min_element(each.ends.begin(), each.ends.end());
    next = blocked ? std::min(next, each.stage_free) : next;
    if (const base::Seconds load = each.scheduler.next_load(); load > now_) {
      next = std::min(next, load);
    }
    agenda_.at(next, number);
  }

  // Whether the first stage has yet to be free for one of them.
  bool start_micro_batches(const Pool& pool, Replica& replica) {
    const std::size_t micro_batches = replica.ends.size();
    const std::size_t first = replica.last_micro_batch + 1;
    for (std::size_t tried = 0; tried < micro_batches; ++tried) {
      const std::size_t micro_batch = (first + tried) % micro_batches;
      if (replica.scheduler.in_flight(micro_batch)) {
        continue;
      }
      if (replica.stage_free > now_) {
        return true;
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
          request.first_token = send(replica, now_, 1);
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
    }
    return false;
  }

  // When clients have the tokens of an iteration that ends at `end`.
  base::Seconds send(Replica& replica, base::Seconds end, std::int64_t tokens) {
    const base::Seconds sent = replica.front_end.send(end, tokens);
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
    result_.peak_cache = std::max(result_.peak_cache, replica.cache_share());
    if (const std::int64_t repeats = replica.scheduler.repeats(); repeats > 0 && stages_.empty()) {
      replica.ahead.plan(*pool.times, iterations, {replica.ends[micro_batch], replica.stage_free},
                         repeats);
      replica.ends[micro_batch] = replica.ahead.last_end();
    }
  }

  // The next `count` iterations of those planned ahead start.
  void repeat(std::size_t number, std::size_t count) {
    if (count == 0) {
      return;
    }
    Replica& replica = this->replica(number);
    Ahead& ahead = replica.ahead;
    const auto tokens = static_cast<std::int64_t>(replica.scheduler.running());
    SimulatedSecond* second = nullptr;
    base::Seconds second_ends;
    for (std::size_t i = 0; i < count; ++i) {
      const base::Seconds end = ahead[i].end;
      send(replica, end, tokens);
      if (end >= second_ends) {
        second = &timeline_.at(end);
        second_ends = (std::floor(end / base::second) + 1.0) * base::second;
      }
      second->output_tokens += tokens;
    }
    timeline_.add_busy(ahead.start(1), std::min(ahead[count].free, kLongest));
    const base::Seconds start = ahead.start(count);
    replica.scheduler.repeat(static_cast<std::int64_t>(count));
    replica.stage_free = ahead[count].free;
    ahead.pass(count);
    timeline_.grow(number, start, replica.scheduler.cache_used());
    result_.iterations += static_cast<std::int64_t>(count);
    result_.peak_cache = std::max(result_.peak_cache, replica.cache_share());
  }

  // Iterations planned ahead that have started until now have done so. `ends`: no more of them will.
  void catch_up(std::size_t number, bool ends = false) {
    Replica& replica = this->replica(number);
    Ahead& ahead = replica.ahead;
    if (ahead.empty()) {
      return;
    }
    repeat(number, ahead.started_before(now_));
    if (ends || ahead[0].end <= now_) {
      replica.ends.front() = ahead[0].end;
      ahead.clear();
      complete_micro_batches(number);
      agenda_.touch(number);
    }
  }

  void complete_micro_batches(std::size_t number) {
    const Pool& pool = pool_of(number);
    Replica& replica = this->replica(number);
    for (std::size_t micro_batch = 0; micro_batch < replica.ends.size(); ++micro_batch) {
      if (replica.ends[micro_batch] > now_) {
        continue;
      }
      repeat(number, replica.ahead.left());
      replica.ahead.clear();
      replica.ends[micro_batch] = kNever;
      replica.scheduler.complete(micro_batch);
      // A prefill pool sends no tokens to clients. The decode pool sends the first token later.
      const base::Seconds sent =
          prompts(pool) ? now_ : send(replica, now_, replica.scheduler.tokens());
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
        clients_.answered(id, sent);
      }
      SimulatedSecond& second = timeline_.at(now_);
      second.prompt_tokens += replica.tokens[micro_batch];
      second.output_tokens += replica.scheduler.tokens();
    }
  }

  ScenarioView scenario_;
  const workloads::Requests& stream_;
  Stages stages_;
  base::Seconds last_sent_;  // when clients have the tokens of all iterations so far
  bool disaggregated_;
  std::vector<Pool> pools_;
  std::size_t replicas_;  // of all pools
  Agenda agenda_;
  Timeline timeline_;
  Clients clients_;
  Coming taken_;      // by a front end, until it is done with them
  Coming transfers_;  // KV caches until they arrive
  base::Seconds now_;
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
