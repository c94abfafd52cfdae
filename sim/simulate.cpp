// SPDX-License-Identifier: Apache-2.0
#include "sim/simulate.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>

#include "sim/draft.hpp"
#include "sim/feasibility.hpp"
#include "sim/front_end.hpp"
#include "sim/pools.hpp"
#include "sim/scheduler.hpp"
#include "sim/step_times.hpp"

namespace roofcast::sim {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// Times of iterations of all attention-DP ranks. Each rank takes its own batch's time with the experts'
// share of everybody's tokens: those of as many ranks as if all had its batch.
class IterationTimes {
 public:
  explicit IterationTimes(const ScenarioView& scenario)
      : scenario_(scenario),
        by_groups_(static_cast<std::size_t>(scenario.mapping->data_parallel) + 1) {}

  StepTime operator()(std::span<const Iteration> ranks) {
    const std::int64_t query = scenario_.serving->speculation.query_tokens();
    std::int64_t all = 0;
    for (const Iteration& iteration : ranks) {
      all += iteration.decodes * query + iteration.prompt_tokens;
    }
    StepTime slowest;
    for (const Iteration& iteration : ranks) {
      const std::int64_t tokens = iteration.decodes * query + iteration.prompt_tokens;
      if (tokens > 0) {
        const std::int64_t groups =
            std::min((all + tokens / 2) / tokens, static_cast<std::int64_t>(ranks.size()));
        const StepTime time = of(groups)(iteration);
        slowest.latency = std::max(slowest.latency, time.latency);
        slowest.period = std::max(slowest.period, time.period);
      }
    }
    return slowest;
  }

 private:
  StepTimes& of(std::int64_t groups) {
    auto& times = by_groups_[static_cast<std::size_t>(groups)];
    if (!times) {
      times = std::make_unique<StepTimes>(scenario_, groups);
    }
    return *times;
  }

  ScenarioView scenario_;
  std::vector<std::unique_ptr<StepTimes>> by_groups_;
};

// A scheduler and its iterations in flight.
struct Replica {
  Replica(const ScenarioView& s, base::Bytes cache)
      : scheduler(s, cache),
        ends(scheduler.lanes(), kNever),
        tokens(scheduler.lanes(), 0),
        link_free(static_cast<std::size_t>(s.mapping->data_parallel), 0.0) {}

  Scheduler scheduler;
  std::vector<double> ends;          // of the micro-batches in flight
  std::vector<std::int64_t> tokens;  // of their prompts
  double stage_free = 0;             // when the first stage takes the next micro-batch
  std::size_t last_lane = 0;
  bool lane_waits = false;        // a micro-batch waits for the first stage
  std::vector<double> link_free;  // when a rank has sent its caches
  std::size_t incoming = 0;       // requests whose caches are on their way

  std::size_t load() const { return incoming + scheduler.waiting() + scheduler.running(); }
  double cache_share() const {
    return static_cast<double>(scheduler.cache_used()) /
           static_cast<double>(scheduler.cache_capacity());
  }
};

// Which replica a request goes to.
class Routing {
 public:
  explicit Routing(workloads::Router router) : router_(router) {}

  std::size_t operator()(const std::vector<Replica>& replicas, const Job& job) {
    if (router_ == workloads::Router::round_robin) {
      return next_++ % replicas.size();
    }
    std::size_t least = 0;
    std::size_t most = 0;
    std::size_t known = 0;
    std::int64_t known_tokens = -1;
    for (std::size_t i = 0; i < replicas.size(); ++i) {
      const std::size_t load = replicas[i].load();
      least = load < replicas[least].load() ? i : least;
      most = load > replicas[most].load() ? i : most;
      if (router_ == workloads::Router::prefix_aware) {
        const std::int64_t tokens = replicas[i].scheduler.known_tokens(job);
        if (tokens > known_tokens || (tokens == known_tokens && load < replicas[known].load())) {
          known = i;
          known_tokens = tokens;
        }
      }
    }
    const std::size_t low = replicas[least].load();
    const std::size_t high = replicas[most].load();
    const bool uneven = high - low > kUnevenBy &&
                        static_cast<double>(high) > kUnevenRatio * static_cast<double>(low);
    return router_ == workloads::Router::prefix_aware && !uneven ? known : least;
  }

 private:
  // sgl-project/sglang, sgl-router: defaults of balance_abs_threshold and balance_rel_threshold.
  static constexpr std::size_t kUnevenBy = 64;
  static constexpr double kUnevenRatio = 1.5;

  workloads::Router router_;
  std::size_t next_ = 0;
};

// Replicas that do the same work.
struct Pool {
  Pool(const ScenarioView& s, base::Bytes cache) : times(s), routing(s.serving->router) {
    const auto count = static_cast<std::size_t>(s.serving->replicas);
    replicas.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      replicas.emplace_back(s, cache);
    }
  }
  IterationTimes times;
  Routing routing;
  std::vector<Replica> replicas;
};

class Loop {
 public:
  // `pools`: one, or those for prompts and for answers, with the KV cache of a rank.
  Loop(const ScenarioView& s, const workloads::Requests& requests, std::int64_t concurrency,
       std::span<const std::pair<ScenarioView, base::Bytes>> pools, Simulation& result)
      : scenario_(s),
        stream_(requests),
        front_end_(*s.serving),
        closed_(concurrency > 0),
        disaggregated_(pools.size() > 1),
        result_(result) {
    pools_.reserve(pools.size());
    for (const auto& [pool, cache] : pools) {
      pools_.emplace_back(pool, cache);
      replicas_ += pools_.back().replicas.size();
    }
    result_.requests.reserve(requests.requests.size());
    for (const workloads::Request& request : requests.requests) {
      ServedRequest served;
      served.arrival = closed_ ? 0.0 : request.arrival.si();
      served.input_tokens = request.input_tokens;
      served.output_tokens = request.output_tokens;
      served.priority = request.priority;
      result_.requests.push_back(served);
    }
    sent_ = closed_ ? std::min(static_cast<std::size_t>(concurrency), result_.requests.size())
                    : result_.requests.size();
  }

  void run() {
    for (;;) {
      for (Pool& pool : pools_) {
        for (Replica& replica : pool.replicas) {
          start_lanes(pool, replica);
        }
      }
      const double next = next_event();
      if (next == kNever) {
        break;
      }
      advance(next);
      for (Pool& pool : pools_) {
        for (Replica& replica : pool.replicas) {
          complete_lanes(pool, replica);
        }
      }
      take_arrivals();
      deliver_caches();
      deliver();
    }
    result_.end = std::max(now_, shown_);
  }

 private:
  double next_event() const {
    double next = kNever;
    for (const Pool& pool : pools_) {
      for (const Replica& replica : pool.replicas) {
        next = std::min(next, *std::min_element(replica.ends.begin(), replica.ends.end()));
        if (replica.lane_waits) {
          next = std::min(next, replica.stage_free);
        }
        if (replica.scheduler.next_load() > now_) {
          next = std::min(next, replica.scheduler.next_load());
        }
      }
    }
    if (!transfers_.empty()) {
      next = std::min(next, std::get<double>(transfers_.top()));
    }
    if (taken_ < sent_) {
      next = std::min(next, result_.requests[taken_].arrival);
    }
    if (delivered_ < taken_) {
      next = std::min(next, result_.requests[delivered_].queued);
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
    job.cached_tokens = std::min(scenario_.traffic->cached_tokens, request.input_tokens - 1);
    job.prefix = {stream_.blocks_of(request), index + 1,
                  stream_.block_tokens > 0 ? stream_.block_tokens : kUnitTokens};
    return job;
  }

  void take_arrivals() {
    for (; taken_ < sent_ && result_.requests[taken_].arrival <= now_; ++taken_) {
      ServedRequest& request = result_.requests[taken_];
      request.queued = front_end_.take(request.arrival, request.input_tokens);
    }
  }

  // Requests that the front end has taken in join a queue.
  void deliver() {
    for (; delivered_ < taken_; ++delivered_) {
      ServedRequest& request = result_.requests[delivered_];
      if (request.queued > now_) {
        break;
      }
      const Job job = job_of(delivered_);
      const Job first = disaggregated_ ? prompt_of(job) : job;
      if (request.input_tokens + request.output_tokens > scenario_.model->max_context ||
          !pools_.front().replicas.front().scheduler.can_ever_run(first) ||
          !pools_.back().replicas.front().scheduler.can_ever_run(job)) {
        request.rejected = true;
        send_next(now_);
        continue;
      }
      Pool& pool = pools_.front();
      const std::size_t replica = pool.routing(pool.replicas, first);
      request.replica = static_cast<std::int32_t>(replica);
      pool.replicas[replica].scheduler.enqueue(first);
    }
  }

  // What a prefill replica does of a job.
  static Job prompt_of(Job job) {
    job.keeps_cache = job.output_tokens > 1;
    job.output_tokens = 1;
    return job;
  }

  // A prompt is complete: its cache is sent to a decode replica.
  void send_cache(Replica& from, std::int32_t id) {
    ServedRequest& request = result_.requests[static_cast<std::size_t>(id)];
    Pool& pool = pools_.back();
    const std::size_t to = pool.routing(pool.replicas, job_of(static_cast<std::size_t>(id)));
    request.decode_replica = static_cast<std::int32_t>(to);
    ++pool.replicas[to].incoming;
    double& free = from.link_free[from.scheduler.rank_of(id)];
    free = std::max(free, now_) +
           kv_transfer(scenario_, static_cast<double>(request.input_tokens)).time.si();
    transfers_.emplace(free, id);
  }

  // Requests whose caches have come join the queue of a decode replica.
  void deliver_caches() {
    while (!transfers_.empty() && std::get<double>(transfers_.top()) <= now_) {
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

  // A client of a closed loop sends its next request.
  void send_next(double now) {
    if (closed_ && sent_ < result_.requests.size()) {
      result_.requests[sent_++].arrival = now;
    }
  }

  bool answers(const Pool& pool) const { return disaggregated_ && &pool == &pools_.back(); }
  bool prompts(const Pool& pool) const { return disaggregated_ && &pool == &pools_.front(); }

  void start_lanes(Pool& pool, Replica& replica) {
    replica.lane_waits = false;
    const std::size_t lanes = replica.ends.size();
    const std::size_t first = replica.last_lane + 1;
    for (std::size_t tried = 0; tried < lanes; ++tried) {
      const std::size_t lane = (first + tried) % lanes;
      if (replica.scheduler.in_flight(lane)) {
        continue;
      }
      if (replica.stage_free > now_) {
        replica.lane_waits = true;
        return;
      }
      const std::span<const Iteration> iterations = replica.scheduler.schedule(lane, now_);
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
          request.first_token = shown_ = front_end_.show(now_, 1);
          prefill_replica_of(request).scheduler.release(start.id);
        } else {
          request.scheduled = now_;
          request.reused_tokens = start.reused_tokens;
          request.restored_tokens = start.restored_tokens;
        }
      }
      start(pool, replica, lane, iterations);
    }
  }

  Replica& prefill_replica_of(const ServedRequest& request) {
    return pools_.front().replicas[static_cast<std::size_t>(request.replica)];
  }

  void start(Pool& pool, Replica& replica, std::size_t lane,
             std::span<const Iteration> iterations) {
    const StepTime time = pool.times(iterations);
    replica.ends[lane] = now_ + time.latency;
    replica.stage_free = now_ + time.period;
    replica.last_lane = lane;
    replica.tokens[lane] = 0;
    for (const Iteration& iteration : iterations) {
      replica.tokens[lane] += iteration.prompt_tokens;
    }
    ++result_.iterations;
    result_.peak_running =
        std::max(result_.peak_running, static_cast<std::int64_t>(replica.scheduler.running()));
    result_.peak_cache = std::max(result_.peak_cache, replica.cache_share());
  }

  void complete_lanes(const Pool& pool, Replica& replica) {
    for (std::size_t lane = 0; lane < replica.ends.size(); ++lane) {
      if (replica.ends[lane] > now_) {
        continue;
      }
      replica.ends[lane] = kNever;
      replica.scheduler.complete(lane);
      // First tokens of a prefill pool go to the decode pool.
      shown_ = disaggregated_ && prompts(pool) ? now_
                                               : front_end_.show(now_, replica.scheduler.tokens());
      for (const std::int32_t id : replica.scheduler.first_tokens()) {
        ServedRequest& request = result_.requests[static_cast<std::size_t>(id)];
        request.first_token = shown_;
        request.prefilled = disaggregated_ ? now_ : 0.0;
      }
      for (const std::int32_t id : replica.scheduler.finished()) {
        ServedRequest& request = result_.requests[static_cast<std::size_t>(id)];
        if (prompts(pool) && request.output_tokens > 1) {
          send_cache(replica, id);
          continue;
        }
        request.last_token = shown_;
        send_next(shown_);
      }
      SimulatedSecond& second = second_of(now_);
      second.prompt_tokens += replica.tokens[lane];
      second.output_tokens += replica.scheduler.tokens();
    }
  }

  SimulatedSecond& second_of(double time) {
    const auto index = static_cast<std::size_t>(time);
    if (index >= result_.seconds.size()) {
      result_.seconds.resize(index + 1);
    }
    return result_.seconds[index];
  }

  // What holds from now on until `next`, second by second.
  void advance(double next) {
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
      const double until = std::min(next, static_cast<double>(static_cast<std::size_t>(now_) + 1));
      const double span = until - now_;
      second.running += span * running;
      second.waiting += span * waiting;
      second.cache += span * cache;
      for (const Pool& pool : pools_) {
        for (const Replica& replica : pool.replicas) {
          second.busy += share * std::clamp(replica.stage_free - now_, 0.0, span);
        }
      }
      now_ = until;
    }
  }

  static constexpr std::int64_t kUnitTokens = 64;  // of a stream that names no blocks

  ScenarioView scenario_;
  const workloads::Requests& stream_;
  FrontEnd front_end_;
  double shown_ = 0;  // when clients have the tokens of the last iteration
  bool closed_;
  bool disaggregated_;
  std::vector<Pool> pools_;
  std::size_t replicas_ = 0;  // of all pools
  // When a cache comes, and whose; the first one on top.
  using Coming = std::tuple<double, std::int32_t>;
  std::priority_queue<Coming, std::vector<Coming>, std::greater<>> transfers_;
  double now_ = 0;
  std::size_t sent_ = 0;       // requests whose arrival is known
  std::size_t taken_ = 0;      // requests that the front end has, or had
  std::size_t delivered_ = 0;  // requests that a replica has, or had
  Simulation& result_;
};

}  // namespace

Simulation simulate(const ScenarioView& scenario, const workloads::Requests& requests,
                    std::int64_t concurrency) {
  const std::unique_ptr<const Draft> draft = draft_of(scenario);
  ScenarioView s = scenario;
  s.draft = draft.get();
  Simulation result;
  std::optional<PoolScenarios> two;
  std::vector<std::pair<ScenarioView, base::Bytes>> pools;
  if (s.pools != nullptr) {
    two.emplace(s);
    pools = {{two->prefill(), {}}, {two->decode(), {}}};
  } else {
    pools = {{s, {}}};
  }
  // One token in and one out: what a request of its own length lacks is said of the request.
  const workloads::Traffic least{1, 1, 1, 0};
  for (auto& [pool, cache] : pools) {
    ScenarioView smallest = pool;
    smallest.traffic = &least;
    ServingEstimate fit;
    fit.gpus = gpus_of(s);
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
  Loop(s, requests, concurrency, pools, result).run();
  return result;
}

}  // namespace roofcast::sim
