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
#include "sim/iteration/replica_iterations.hpp"
#include "sim/replay/front_stages.hpp"
#include "sim/replay/routing.hpp"
#include "sim/result/feasibility.hpp"
#include "sim/scenario/pools.hpp"

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
  Loop(const ScenarioView& s, const workloads::Requests& requests, std::int64_t concurrency,
       std::span<const std::pair<ScenarioView, base::Bytes>> pools, KeptIterations& kept,
       Simulation& result)
      : scenario_(s),
        stream_(requests),
        stages_(requests),
        closed_(concurrency > 0),
        disaggregated_(pools.size() > 1),
        result_(result) {
    pools_.reserve(pools.size());
    for (const auto& [pool, cache] : pools) {
      pools_.emplace_back(
          pool, cache, disaggregated_ ? std::make_shared<ReplicaIterations>(pool) : kept.of(pool));
      replicas_ += pools_.back().replicas.size();
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
        closed_ ? static_cast<std::size_t>(concurrency) : stream_.requests.size();
    for (std::size_t i = 0; i < clients; ++i) {
      send_next(thinking());
    }
  }

  void run() {
    for (;;) {
      for (Pool& pool : pools_) {
        for (Replica& replica : pool.replicas) {
          start_micro_batches(pool, replica);
        }
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
      advance(next);
      for (Pool& pool : pools_) {
        for (Replica& replica : pool.replicas) {
          complete_micro_batches(pool, replica);
        }
      }
      take_arrivals();
      deliver_caches();
      deliver();
    }
    result_.end = std::max(now_, last_sent_);
  }

 private:
  base::Seconds next_event() const {
    base::Seconds next = kNever;
    for (const Pool& pool : pools_) {
      for (const Replica& replica : pool.replicas) {
        next = std::min(next, *std::min_element(replica.ends.begin(), replica.ends.end()));
        if (replica.micro_batch_waits) {
          next = std::min(next, replica.stage_free);
        }
        if (replica.scheduler.next_load() > now_) {
          next = std::min(next, replica.scheduler.next_load());
        }
      }
    }
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
      if (!stages_.all_passed(index)) {
        sent_.emplace(stages_.pass(index, time), id);
        continue;
      }
      ServedRequest& request = request_of(id);
      Pool& pool = pools_.front();
      const std::size_t to = pool.routing(pool.replicas, job_of(index));
      request.replica = static_cast<std::int32_t>(to);
      ++pool.replicas[to].incoming;
      request.queued = pool.replicas[to].front_end.take(time, request.input_tokens);
      taken_.emplace(request.queued, id);
    }
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

  void start_micro_batches(Pool& pool, Replica& replica) {
    replica.micro_batch_waits = false;
    const std::size_t micro_batches = replica.ends.size();
    const std::size_t first = replica.last_micro_batch + 1;
    for (std::size_t tried = 0; tried < micro_batches; ++tried) {
      const std::size_t micro_batch = (first + tried) % micro_batches;
      if (replica.scheduler.in_flight(micro_batch)) {
        continue;
      }
      if (replica.stage_free > now_) {
        replica.micro_batch_waits = true;
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
          prefill_replica_of(request).scheduler.release(start.id);
        } else {
          request.scheduled = now_;
          request.reused_tokens = start.reused_tokens;
          request.restored_tokens = start.restored_tokens;
        }
      }
      start(pool, replica, micro_batch, iterations);
    }
  }

  // When clients have the tokens of an iteration that ends now.
  base::Seconds send(Replica& replica, std::int64_t tokens) {
    const base::Seconds sent = replica.front_end.send(now_, tokens);
    last_sent_ = std::max(last_sent_, sent);
    return sent;
  }

  Replica& prefill_replica_of(const ServedRequest& request) {
    return pools_.front().replicas[static_cast<std::size_t>(request.replica)];
  }

  void start(Pool& pool, Replica& replica, std::size_t micro_batch,
             std::span<const Iteration> iterations) {
    const IterationTime time = (*pool.times)(iterations);
    replica.ends[micro_batch] = now_ + time.latency;
    replica.stage_free = now_ + time.period;
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
      SimulatedSecond& second = second_of(now_);
      second.prompt_tokens += replica.tokens[micro_batch];
      second.output_tokens += replica.scheduler.tokens();
    }
  }

  static std::size_t whole_seconds(base::Seconds time) {
    return static_cast<std::size_t>(time / base::second);
  }

  SimulatedSecond& second_of(base::Seconds time) {
    const auto index = whole_seconds(time);
    if (index >= result_.seconds.size()) {
      result_.seconds.resize(index + 1);
    }
    return result_.seconds[index];
  }

  // Moves the time to `next`. The state until then is added to each second of the result.
  void advance(base::Seconds next) {
    double running = 0.0;
    double waiting = 0.0;
    double cache = 0.0;
    const double share = 1.0 / static_cast<double>(replicas_);
    for (const Pool& pool : pools_) {
      for (const Replica& replica : pool.replicas) {
        running += static_cast<double>(replica.scheduler.running());
        waiting += static_cast<double>(replica.scheduler.waiting());
        cache += share * replica.cache_share();
      }
    }
    while (now_ < next) {
      SimulatedSecond& second = second_of(now_);
      const base::Seconds until =
          std::min(next, static_cast<double>(whole_seconds(now_) + 1) * base::second);
      const double span = (until - now_) / base::second;  // share of this second
      second.running += span * running;
      second.waiting += span * waiting;
      second.cache += span * cache;
      for (const Pool& pool : pools_) {
        for (const Replica& replica : pool.replicas) {
          second.busy += share * std::clamp((replica.stage_free - now_) / base::second, 0.0, span);
        }
      }
      now_ = until;
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
  std::size_t replicas_ = 0;  // of all pools
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
  std::unique_ptr<const DraftModel> draft;
  std::optional<PoolScenarios> two;
  std::vector<std::pair<ScenarioView, base::Bytes>> pools;
  if (s.pools != nullptr) {
    two.emplace(s);
    draft = draft_model_of(two->decode());
    two->draft_with(draft.get());
    pools = {{two->prefill(), {}}, {two->decode(), {}}};
  } else {
    draft = draft_model_of(s);
    s.draft = draft.get();
    pools = {{s, {}}};
  }
  if (s.pools != nullptr && !pools_are_connected(s)) {
    result.reason = reason(infeasible::NoNetwork{});
    return result;
  }
  const GpuKinds kinds = gpu_kinds(s);
  // Checks the smallest request: one token in, one out. Requests that are too long are rejected one by one.
  const workloads::Traffic least{1, 1, 1, 0};
  for (auto& [pool, cache] : pools) {
    ScenarioView smallest = pool;
    smallest.traffic = &least;
    ServingEstimate fit;
    const std::size_t kind = kinds.size > 1 && &pool == &pools.back().first ? 1 : 0;
    fit.gpus = kinds.of[kind].count;
    check_runnable(smallest, fit);
    if (fit.fits()) {
      fit.footprint = footprint_of(pool);
      check_memory(cache_of(smallest), fit);
    }
    if (!fit.fits()) {
      fit.pool = s.pools == nullptr                       ? PoolKind::none
                 : pool.mapping == two->prefill().mapping ? PoolKind::prefill
                                                          : PoolKind::decode;
      result.reason = reason(fit);
      return result;
    }
    cache = fit.footprint.cache;
  }
  Loop(s, requests, concurrency, pools, kept, result).run();
  return result;
}

}  // namespace roofcast::sim
