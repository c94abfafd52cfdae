// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/agents.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "base/queueing/birth_death.hpp"
#include "base/queueing/closed_network.hpp"
#include "base/queueing/open_queue.hpp"
#include "base/statistics/quantile.hpp"
#include "base/statistics/random.hpp"
#include "sim/iteration/front_models.hpp"
#include "sim/iteration/memory.hpp"
#include "sim/serving/lockstep.hpp"
#include "sim/serving/sampled_loop.hpp"
#include "workloads/traffic/agents.hpp"
#include "workloads/traffic/task_walk.hpp"

namespace roofcast::sim {
namespace {

using base::Hertz;
using base::Seconds;
using workloads::AgentTask;
using workloads::AgentTurn;
using workloads::Pause;
using workloads::Stay;
using workloads::Walk;

constexpr int kTurnRounds = 30;
constexpr double kTurnTolerance = 1e-3;  // relative to the time of a turn
constexpr double kDamping = 0.5;   // share of a difference that is followed, after the first round
constexpr double kSwings = 0.7;    // what a change of sign leaves of a difference that swings
constexpr double kSettled = 0.25;  // of the tolerance: a smaller move of the hits is the last
constexpr int kCorrections = 2;    // of X(n), by followed turns
constexpr double kFinest = 1.2;    // X(n) is interpolated between n that differ by this ratio
constexpr int kUserBisections = 50;
constexpr std::uint64_t kThinkSeed = 1;
constexpr double kHostBusy = 0.98;          // utilisation from which it is the limit
constexpr std::size_t kMostLengths = 4096;  // of the turns' prompts

// The engine, the agents and their KV cache.
class Fleet {
 public:
  Fleet(const ScenarioView& scenario, const AgentServers& servers, const ServingEstimate& e,
        Workspace& workspace)
      : sample_(*scenario.traffic->agents),
        walker_(sample_),
        workspace_(workspace),
        traffic_(*scenario.traffic),
        view_(scenario),
        pools_(servers.pools) {
    const ScenarioView& s = servers.prompts;
    traffic_.agents = nullptr;
    view_.traffic = &traffic_;
    const double shared = mean_shared();
    std::copy_if(scenario.front->stages.begin(), scenario.front->stages.end(),
                 std::back_inserter(stages_),
                 [](const workloads::Stage& stage) { return stage.servers > 0; });
    keeps_ = s.serving->policy.prefix_cache && states_of(s).si() == 0.0;
    // One copy of the context that all sessions share.
    const base::Bytes common = keeps_ ? keys_of(shared, s) : base::Bytes{};
    room_ = (e.footprint.cache - common) / base::byte;
    running_ = (servers.mean_request - common) / base::byte;
    slots_ = std::max(1.0, std::floor(room_ / running_));
    const double context = workloads::mean_context(*s.traffic);
    byte_per_token_ = keys_of(context, s).si() / context;
    replicas_ = static_cast<double>(s.serving->replicas);
    const workloads::Stack& stack = s.serving->stack;
    const Seconds front_end =
        workloads::intake_time(stack, static_cast<double>(traffic_.input_tokens)) +
        static_cast<double>(traffic_.output_tokens) /
            static_cast<double>(s.serving->policy.stream_interval) * stack.message_overhead;
    front_end_ =
        front_end / (replicas_ * static_cast<double>(s.serving->front_ends_of(*s.mapping)));
  }

  SteadyState solve(TaskEstimate& task) {
    prefix_hits_ = prefix_hit_tokens({}, Seconds::infinity());
    Walk walk;
    if (sample_.agents.arrivals) {
      const SteadyState arriving = settle(walk);
      return arriving.utilisation >= 1.0 ? arriving : result(walk, task);
    }
    for (int i = 0; i < kCorrections; ++i) {
      settle(walk);
      pace_ *= present_ / throughput_ / followed_sessions().end_to_end;
    }
    settle(walk);
    return result(walk, task);
  }

 private:
  // Sets the prefix hits, and what follows from them. Returns the engine under turns that arrive.
  SteadyState settle(Walk& walk) {
    const bool open = sample_.agents.arrivals.has_value();
    SteadyState arriving;
    Seconds time;
    double damping = 1.0;
    double missing = 0.0;  // tokens that were found beyond what was assumed
    for (int i = 0; i < kTurnRounds; ++i) {
      traffic_.cached_tokens = static_cast<std::int64_t>(
          std::min(std::floor(prefix_hits_), static_cast<double>(traffic_.input_tokens - 1)));
      set_prompts();
      rates_.clear();
      if (i == 0 && !open) {
        time = 1.0 / rate(1.0);
        walk = walker_.walk(stay(time, engine(1.0)));
      }
      const Seconds before = time;
      if (open) {
        arriving = open_network();
        if (arriving.utilisation >= 1.0) {
          return arriving;
        }
        time = arriving.end_to_end;
        walk = walker_.walk(stay(time, arriving));
      } else {
        time = turn_time(walk);
        walk = walker_.walk(stay(time, engine(present_)));
      }
      // Where more hits let fewer contexts stay, the difference swings. Half as much is followed then.
      const double before_that =
          std::exchange(missing, prefix_hit_tokens(walk.pauses, age(walk)) - prefix_hits_);
      if (missing * before_that < 0.0 && std::abs(missing) > kSwings * std::abs(before_that)) {
        damping *= 0.5;
      }
      const double tolerance = kTurnTolerance * static_cast<double>(traffic_.input_tokens);
      const bool same =
          std::abs(missing) < tolerance || damping * std::abs(missing) < kSettled * tolerance;
      prefix_hits_ += damping * missing;
      damping = std::min(damping, kDamping);
      if (same && base::max(time - before, before - time) < kTurnTolerance * time) {
        break;
      }
    }
    return arriving;
  }

  double mean_shared() const {
    double sum = 0.0;
    for (const AgentTask& task : sample_.tasks) {
      for (const auto& session : task.sessions) {
        for (const AgentTurn& turn : session) {
          sum += static_cast<double>(turn.shared_known);
        }
      }
    }
    return sum / walker_.turns();
  }

  SteadyState engine(double clients) {
    traffic_.concurrency = std::max<std::int64_t>(1, std::llround(clients));
    traffic_.arrivals.reset();
    ScenarioView scanned = view_;
    scanned.scans = true;
    return pools_ != nullptr ? pools_(scanned, {}, workspace_)
                             : lockstep(scanned, slots_, workspace_);
  }

  // X(n), turns with n = `present`; linear between whole numbers of a replica that grow by kFinest.
  Hertz rate(double present) {
    const double each = present / replicas_;
    double below = 0.0;
    double above = 1.0;
    while (above < each) {
      below = std::exchange(above, std::floor(above * kFinest) + 1.0);
    }
    const double share = (each - below) / (above - below);
    return (1.0 - share) * rate_at(below) + share * rate_at(above);
  }
  Hertz rate_at(double clients_of_a_replica) {
    const auto [at, fresh] = rates_.try_emplace(clients_of_a_replica);
    if (fresh && clients_of_a_replica > 0.0) {
      at->second = base::min(
          pace_ * engine(clients_of_a_replica * replicas_).requests_per_second * base::hertz,
          1.0 / front_end_);
    }
    return at->second;
  }

  // W, from the sessions that are alive.
  //
  //   thinking   of all agents after the sampled tasks           sessions_     M
  //   away       Z                                               present_      E[n]
  //   staged_    of a turn in stages                             throughput_   E[X(n)]
  Seconds turn_time(const Walk& walk) {
    const Seconds thinking = sample_.agents.think.time * static_cast<double>(walk.times.size());
    sessions_ = static_cast<double>(sample_.agents.concurrent) * (walk.alive + thinking) /
                (walk.total + thinking);
    const Seconds away = base::max((walk.tools + thinking) / walker_.turns(), base::nanosecond);
    staged_ = {};
    stages_.empty() ? birth_death(away + beside_) : closed_network(away + beside_);
    add_beside();
    return present_ / throughput_;
  }

  void birth_death(Seconds away) {
    std::vector<double> births;
    std::vector<double> deaths;
    for (double n = 0.0; n < sessions_; n += 1.0) {
      births.push_back(((sessions_ - n) / away).si());
      deaths.push_back(rate(n + 1.0).si());
    }
    const std::vector<double> p = base::queueing::birth_death(births, deaths);
    present_ = 0.0;
    throughput_ = {};
    for (std::size_t n = 1; n < p.size(); ++n) {
      present_ += p[n] * std::min(static_cast<double>(n), sessions_);
      throughput_ += p[n] * deaths[n - 1] * base::hertz;
    }
  }

  // Rounding makes no session more of whole ones.
  double whole_sessions() const { return std::max(1.0, std::ceil(sessions_ * (1.0 - 1e-9))); }

  void closed_network(Seconds away) {
    using base::queueing::Station;
    const auto clients = static_cast<std::int64_t>(whole_sessions());
    Station engine{1.0 / rate(1.0), {}};
    for (std::int64_t n = 1; n <= clients; ++n) {
      engine.speedups.push_back(rate(static_cast<double>(n)) / rate(1.0));
    }
    std::vector<Station> stations = {engine};
    for (const workloads::Stage& stage : stages_) {
      stations.push_back(
          base::queueing::servers_of(stage.service.time, std::min(stage.servers, clients)));
    }
    const auto all = base::queueing::closed_network(stations, away, clients);
    present_ = all.stations.front().present;
    throughput_ = all.throughput;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      const workloads::Duration& service = stages_[i].service;
      const Seconds wait = all.stations[i + 1].time - service.time;
      add_stage(service, wait, 1.0);
    }
  }

  // A request waits with this probability, then exponentially.
  void add_stage(const workloads::Duration& service, Seconds wait, double probability) {
    const Seconds deviation = service.cv * service.time;
    staged_.mean += service.time + wait;
    staged_.variance += deviation * deviation;
    if (wait > Seconds{}) {
      staged_.variance += wait * wait * (2.0 / probability - 1.0);
    }
  }

  // Before its passes on the GPUs of the model, a turn waits for half an iteration each. The next iteration begins with
  // the end of a pass, so the prompt waits for another half beyond what a prompt waits at a random time.
  Seconds wait_beside(const SteadyState& at) const {
    const auto passes = static_cast<double>(view_.front->passes);
    return passes > 0.0 ? 0.5 * (1.0 + passes) * std::min(1.0, at.running) * at.tpot : Seconds{};
  }
  void add_beside() {
    staged_.mean += beside_;
    staged_.variance += beside_ * beside_ / 3.0;  // even between 0 and twice its mean
  }

  // The engine under the turns of tasks that arrive, and the stages before it. `utilisation` is at least 1 if one of
  // them has too much to do.
  SteadyState open_network() {
    const workloads::Arrivals turns = arriving_turns();
    throughput_ = workloads::mean_rate(turns);
    SteadyState r = arriving(turns);
    staged_ = {};
    for (const workloads::Stage& stage : stages_) {
      const base::queueing::Queue queue =
          base::queueing::allen_cunneen(workloads::mean_rate(turns), stage.service.time,
                                        stage.servers, 1.0, stage.service.cv * stage.service.cv);
      if (queue.utilisation >= std::max(1.0, r.utilisation)) {
        r.utilisation = queue.utilisation;
        r.saturation = throughput_ / queue.utilisation / base::hertz;
      }
      add_stage(stage.service, queue.wait, queue.wait_probability);
    }
    add_beside();
    present_ = throughput_ * r.end_to_end;
    return r;
  }

  workloads::Arrivals arriving_turns() const {
    return workloads::arrivals_of_turns(*sample_.agents.arrivals, sample_.turns);
  }
  SteadyState arriving(const workloads::Arrivals& turns) {
    traffic_.arrivals = turns;
    traffic_.concurrency = 0;
    return pools_ != nullptr ? pools_(view_, {}, workspace_)
                             : sampled_loop(view_, slots_, {}, workspace_);
  }

  // The sessions that are alive, as a whole number of clients with pauses that leave the throughput as it is.
  SteadyState followed_sessions() {
    base::Random random(kThinkSeed, "think");
    std::vector<Seconds> pauses;
    Seconds sum;
    for (const AgentTask& task : sample_.tasks) {
      for (const auto& session : task.sessions) {
        for (const AgentTurn& turn : session) {
          const bool ends = &session == &task.sessions.front() && &turn == &session.back();
          pauses.push_back(turn.tools + (ends ? sample_.agents.think.draw(random) : Seconds{}));
          sum += pauses.back();
        }
      }
    }
    const double clients = whole_sessions();
    const Seconds mean = sum / walker_.turns();
    const Seconds time = present_ / throughput_;
    const Seconds more = clients / sessions_ * (mean + staged_.mean + time) - time - mean;
    for (Seconds& pause : pauses) {
      pause = base::max(Seconds{}, pause + more);
    }
    traffic_.arrivals.reset();
    traffic_.concurrency = std::llround(clients);
    SteadyState r = pools_ != nullptr ? pools_(view_, pauses, workspace_)
                                      : sampled_loop(view_, slots_, pauses, workspace_);
    const double used = std::min(1.0, clients / replicas_);  // of the replicas, by so few sessions
    r.decode_batch *= used;
    r.running *= used;
    return r;
  }

  // The parts of a stay of mean `time` in the engine `at` this load. Stages are added.
  Stay stay(Seconds time, const SteadyState& at) {
    const double tokens = static_cast<double>(traffic_.output_tokens - 1);
    beside_ = wait_beside(at);
    holds_ = pools_ == nullptr ? 1.0 : at.ttft_mean / at.end_to_end;
    Stay stay;
    stay.a_token = base::min(at.tpot, tokens > 0.0 ? time / tokens : Seconds{});
    const Seconds before = time - stay.a_token * tokens;
    stay.first = base::min(before, engine(1.0).ttft_mean);
    stay.wait = before - stay.first;
    Seconds service;
    for (const workloads::Stage& stage : stages_) {
      service += stage.service.time;
    }
    stay.first += service;
    stay.wait += base::max(Seconds{}, staged_.mean - service);
    return stay;
  }

  // T: how long an unused context stays in the KV cache. `tokens` is the free memory of all replicas, in tokens.
  // `wanted` is free tokens over turns per second, times the sampled turns; held(T) is Σ tokens · min(wait, T) over
  // them.
  Seconds age(const Walk& walk) const {
    const double tokens =
        std::max(0.0,
                 replicas_ * room_ - std::min(holds_ * present_, replicas_ * slots_) * running_) /
        byte_per_token_;
    const Seconds wanted = tokens * walker_.turns() / throughput_;
    const auto blocking = [&](Seconds age) {
      Seconds sum;
      for (const Pause& pause : walk.pauses) {
        sum += pause.tokens * base::min(pause.wait, age);
      }
      return sum;
    };
    Seconds least;
    Seconds most = base::second;
    while (blocking(most) < wanted) {
      least = most;
      most *= 2.0;
    }
    for (int i = 0; i < kUserBisections && most - least > kTurnTolerance * most; ++i) {
      const Seconds middle = 0.5 * (least + most);
      (blocking(middle) < wanted ? least : most) = middle;
    }
    return 0.5 * (least + most);
  }

  // Mean tokens of a turn's input in the KV cache, if contexts stay for `age`. If there are no pauses, all contexts
  // stay.
  double prefix_hit_tokens(const std::vector<Pause>& pauses, Seconds age) {
    prompts_.clear();
    double sum = 0.0;
    std::size_t index = 0;
    for (const AgentTask& task : sample_.tasks) {
      for (const auto& session : task.sessions) {
        for (std::size_t i = 0; i < session.size(); ++i, ++index) {
          const bool stays = i > 0 && (pauses.empty() || pauses[index - 1].wait <= age);
          const std::int64_t answer = i > 0 && pools_ != nullptr ? session[i - 1].output_tokens : 0;
          const std::int64_t own =
              stays ? std::max<std::int64_t>(0, session[i].own_known - answer) : 0;
          const std::int64_t found = keeps_ ? session[i].shared_known + own : 0;
          sum += static_cast<double>(found);
          prompts_.push_back({session[i].input_tokens, found});
        }
      }
    }
    return sum / walker_.turns();
  }

  // Those of the turns; and lengths with the mean of them, and the variation of what is computed of them.
  void set_prompts() {
    const auto computed = [](const workloads::Prompt& p) { return p.input - p.cached; };
    std::sort(prompts_.begin(), prompts_.end(), [&](const auto& a, const auto& b) {
      return std::pair(computed(a), a.input) < std::pair(computed(b), b.input);
    });
    double sum = 0.0;
    for (const workloads::Prompt& prompt : prompts_) {
      sum += static_cast<double>(computed(prompt));
    }
    const std::int64_t found = traffic_.input_tokens - std::llround(sum / walker_.turns());
    std::vector<std::int32_t> lengths;
    const std::size_t count = std::min(prompts_.size(), kMostLengths);
    for (std::size_t i = 0; i < count; ++i) {
      const workloads::Prompt& prompt = prompts_[(2 * i + 1) * prompts_.size() / (2 * count)];
      lengths.push_back(static_cast<std::int32_t>(
          std::max(computed(prompt) + found, traffic_.cached_tokens + 1)));
    }
    traffic_.input = workloads::measured_lengths(std::move(lengths));
    traffic_.prompts = std::make_shared<const std::vector<workloads::Prompt>>(prompts_);
  }

  SteadyState of_agents() {
    SteadyState r = followed_sessions();
    r.requests_per_second = throughput_ / base::hertz;
    r.throughput_limit = throughput_ * front_end_ > kHostBusy ? Limit::host : r.throughput_limit;
    return r;
  }

  SteadyState result(Walk& walk, TaskEstimate& task) {
    traffic_.stages = staged_;
    SteadyState r = sample_.agents.arrivals ? arriving(arriving_turns()) : of_agents();
    const Seconds mean = walk.total / static_cast<double>(walk.times.size());
    std::sort(walk.times.begin(), walk.times.end());
    task.mean = mean;
    task.p50 = base::sorted_quantile(walk.times, 0.5);
    task.p95 = base::sorted_quantile(walk.times, 0.95);
    task.per_second = sample_.agents.arrivals
                          ? workloads::mean_rate(*sample_.agents.arrivals).si()
                          : static_cast<double>(sample_.agents.concurrent) /
                                ((mean + sample_.agents.think.time) / base::second);
    task.prefix_hit_rate = prefix_hits_ / static_cast<double>(traffic_.input_tokens);
    task.tools_share = walk.tools / walk.alive;
    task.present = present_;
    return r;
  }

  const workloads::SampledAgents& sample_;
  workloads::TaskWalk walker_;
  Workspace& workspace_;
  workloads::Traffic traffic_;  // what the engine sees
  ScenarioView view_;
  SteadyState (*pools_)(const ScenarioView&, std::span<const Seconds>, Workspace&);
  bool keeps_ = true;   // whether contexts stay in the KV cache
  double room_ = 0;     // B, KV cache of a rank, without the context that all share
  double running_ = 0;  // B, KV cache of a running turn, without the same
  double byte_per_token_ = 0;
  double slots_ = 1;
  double replicas_ = 1;
  double holds_ = 1;               // share of the time of a turn for which it holds its context
  Seconds front_end_;              // of a turn, over the processes of all front ends
  std::map<double, Hertz> rates_;  // X(n) by n of a replica
  double pace_ = 1;                // of followed turns, over X(n)
  double prefix_hits_ = 0;         // tokens of a turn's input in the prefix cache, mean
  double sessions_ = 0;            // M, sessions that are alive
  std::vector<workloads::Stage> stages_;    // that have servers
  workloads::StageTime staged_;             // of a turn
  Seconds beside_;                          // wait of a turn for passes on the GPUs of the model
  std::vector<workloads::Prompt> prompts_;  // of the turns
  double present_ = 0;                      // E[n], turns in the engine
  Hertz throughput_;                        // turns
};

}  // namespace

SteadyState agents_steady_state(const ScenarioView& scenario, const AgentServers& servers,
                                ServingEstimate& e, Workspace& workspace) {
  return Fleet(scenario, servers, e, workspace).solve(e.task);
}

}  // namespace roofcast::sim
