// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/sampled_loop.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "sim/serving/followed_servers.hpp"
#include "sim/serving/sampled_requests.hpp"
#include "sim/serving/server.hpp"

namespace roofcast::sim {
namespace {

using base::Hertz;
using base::Seconds;
namespace queueing = base::queueing;

constexpr double kMostServers = 8;        // ranks of all replicas
constexpr double kLeastServers = 2;       // replicas
constexpr std::size_t kMostOpen = 80000;  // requests of an open loop
constexpr double kOpenError = 0.03;       // standard error of the time between tokens
constexpr double kFirstError = 0.1;       // and of TTFT
constexpr double kHeldUp = 2.0;           // time between tokens, over that without prompts
constexpr int kSampleRounds = 8;
constexpr double kElsewhere = 1.25;  // sequences at the start, over those that decode
constexpr double kFew = 8.0;         // of these, that say nothing
constexpr double kPilesUp = 0.85;    // of the slots
constexpr double kOtherState = 1.3;  // time between tokens there, over that which was found

// A deployment of one pool.
class SampledLoop : Server {
 public:
  SampledLoop(const ScenarioView& s, double slots, Workspace& workspace)
      : Server(s, slots, workspace),
        share_(
            std::min(1.0, std::max(kLeastServers, std::floor(kMostServers / ranks_)) / replicas_)),
        servers_(s, share_ * replicas_, workspace) {
    servers_.share(s.traffic->shared_tokens);
  }

  SteadyState open() {
    SteadyState r;
    Solution found;
    found.rate = workloads::mean_rate(*s_.traffic->arrivals) / replicas_;
    const Hertz most = saturation(servers_.q);
    r.saturation = most * replicas_ / base::hertz;
    r.utilisation = found.rate / most;
    if (r.utilisation >= 1.0) {
      return r;
    }
    const Hertz rate = found.rate * static_cast<double>(servers_.q.servers);
    const queueing::IterationPools pools{servers_.q, {}, {}, {}};
    std::size_t n = open_count(s_, share_);
    const std::size_t longest = std::max(kMostOpen, 4 * n);
    const double begun = present_at(found.rate) * (rate / found.rate);
    FollowedSample followed = open_sample(pools, s_, share_, begun, n);
    if (is_elsewhere(begun, rate * followed.decoding)) {
      followed = open_sample(pools, s_, share_, rate * followed.decoding, n);
    }
    while (4 * n <= longest && is_rough(followed, rate)) {
      n *= 4;
      followed = open_sample(pools, s_, share_, rate * followed.decoding, n);
    }
    const bool keeps_others = starts_elsewhere(pools, n, followed);
    summarise(followed, found, r);
    r.piles_up = found.running > kPilesUp * slots_ || followed.later > Seconds{};
    r.two_states = keeps_others || has_two_states(found);
    r.throughput_limit = Limit::arrivals;
    return r;
  }

  SteadyState closed(std::span<const Seconds> pauses) {
    const double clients = std::max(1.0, std::round(share_ * replicas_ * clients_));
    const FollowedSample followed =
        closed_sample({servers_.q, {}, {}, {}}, s_, static_cast<std::size_t>(clients), 0, pauses);
    SteadyState r;
    Solution found;
    found.rate = clients_ / (followed.pause + followed.stay);
    summarise(followed, found, r);
    r.piles_up = followed.spreads > Seconds{};
    r.throughput_limit = r.front_end_is_full() ? Limit::host
                         : clients_ > running_ ? Limit::slots
                                               : r.tpot_limit;
    return r;
  }

 private:
  // A sample that began with many more sequences, or fewer, than those that decode in it.
  static bool is_elsewhere(double begun, double found) {
    return std::max(begun, found) > kElsewhere * std::min(begun, found) &&
           std::abs(begun - found) > kFew;
  }

  // Near saturation, few bursts decide over TTFT. Where prompts run first and hardly leave the decodes an iteration, a
  // rare one decides over their time.
  bool is_rough(const FollowedSample& followed, Hertz rate) {
    if (followed.first_error > kFirstError) {
      return true;
    }
    const double present = rate * followed.decoding / static_cast<double>(servers_.q.servers);
    return costs_.prompts_first() && followed.error > kOpenError &&
           followed.decoding > kHeldUp * decodes_ * servers_.interval(present);
  }

  // Where requests wait for more of them, a server that has many sequences may keep many, and one that has few, few. The
  // state that an empty one comes to.
  bool starts_elsewhere(const queueing::IterationPools& pools, std::size_t n,
                        FollowedSample& followed) const {
    if (servers_.q.waits_for_more == 0) {
      return false;
    }
    FollowedSample from_empty = open_sample(pools, s_, share_, 0.0, n);
    const Seconds a = from_empty.decoding;
    const Seconds b = followed.decoding;
    const bool elsewhere = base::max(a, b) > kOtherState * base::min(a, b);
    if (elsewhere) {
      followed = std::move(from_empty);
    }
    return elsewhere;
  }

  bool has_two_states(const Solution& found) {
    if (stages_ > 1.0 || costs_.prompts_first() || decodes_ <= 0.0) {
      return false;
    }
    const auto prompt = static_cast<double>(s_.traffic->input_tokens - s_.traffic->cached_tokens);
    return servers_.longest_interval(found.rate, prompt, decodes_, slots_) >
           kOtherState * found.interval;
  }

  // D of a replica, about.
  double present_at(Hertz rate) {
    const auto prompt = static_cast<double>(s_.traffic->input_tokens - s_.traffic->cached_tokens);
    double d = 1.0;
    for (int i = 0; i < kSampleRounds; ++i) {
      const double busy = std::min(0.9, servers_.busy(rate, prompt, d));
      d = std::min(rate * decodes_ * servers_.interval(d) / (1.0 - busy), 0.9 * slots_);
    }
    return d;
  }

  void summarise(const FollowedSample& followed, Solution& found, SteadyState& r) {
    found.present = found.rate * followed.decoding;
    found.running = std::min(found.rate * followed.holding, clients_ > 0.0 ? running_ : slots_);
    // Those that lost their places wait between two tokens.
    found.present = std::min(found.present, found.running);
    found.slot = followed.slot;
    found.waits = followed.waits;
    found.first = followed.first;
    found.sending = followed.handed;
    found.share = followed.path.mixed;
    found.interval = decodes_ > 0.0 ? followed.decoding / decodes_ : Seconds{};
    r.held_up = followed.held_share();
    LatencyMixture ttft = followed.ttft;
    const workloads::StageTime& stages = s_.traffic->stages;
    ttft.shift(stages.mean, stages.variance, {});
    report(found, ttft, followed.tpot, r);
    r.end_to_end = followed.stay + stages.mean;
    r.attainment = followed.attainment;
  }

  double share_;  // of the replicas, that are followed
  FollowedServers servers_;
};

}  // namespace

bool stay_in_step(const ScenarioView& s) {
  const workloads::Traffic& t = *s.traffic;
  const workloads::SchedulerPolicy& policy = s.serving->policy;
  const bool answers_vary = t.output_tokens > 1 && (squared_variation(t.output) > 0.0 ||
                                                    s.serving->speculation.verified() > 0);
  const bool spread = s.mapping->data_parallel > 1 || s.mapping->pipeline_parallel > 1;
  const bool urgent = policy.queue == workloads::Queue::priority && t.classes.size() > 1;
  const bool waits = policy.batch_wait_iterations > 0 || policy.receive_iterations > 1;
  const bool unlike = answers_vary || squared_variation(t.input) > 0.0 || urgent;
  return !t.arrivals && (s.scans || !(unlike || waits || spread || s.serving->replicas > 1));
}

SteadyState sampled_loop(const ScenarioView& scenario, double slots,
                         std::span<const Seconds> pauses, Workspace& workspace) {
  SampledLoop solver(scenario, slots, workspace);
  return scenario.traffic->arrivals ? solver.open() : solver.closed(pauses);
}

}  // namespace roofcast::sim
