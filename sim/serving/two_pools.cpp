// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/two_pools.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <memory>
#include <numeric>
#include <utility>

#include "base/integers.hpp"
#include "base/queueing/open_queue.hpp"
#include "sim/iteration/draft_model.hpp"
#include "sim/iteration/memory.hpp"
#include "sim/scenario/pools.hpp"
#include "sim/serving/followed_servers.hpp"
#include "sim/serving/iteration_mix.hpp"
#include "sim/serving/sampled_requests.hpp"
#include "sim/serving/server.hpp"

namespace roofcast::sim {
namespace {

using base::as_double;
using base::Hertz;
using base::Seconds;

constexpr std::int64_t kMostReplicas = 16;  // of a pool, that are followed
constexpr std::int64_t kFewReplicas = 8;  // of the larger pool, at least, where a part is followed
constexpr int kRounds = 30;
constexpr int kSteps = 32;  // up to all sequences, to the first where more clients would be needed
constexpr double kClose = 1e-4;       // relative
constexpr double kNearlyFull = 0.95;  // of the bound, in a closed loop

// A replica of one pool.
struct PoolServer : Server {
  PoolServer(const ScenarioView& s, double slots, Workspace& workspace)
      : Server(s, slots, workspace) {}
  using Server::costs_;
  using Server::decodes_;
  using Server::intake;
  using Server::messages;
  using Server::saturation;
  using Server::slots_;
  using Server::stages_;
};

// The part of both pools that is followed: 1 of so many.
std::int64_t parts(std::int64_t prefill, std::int64_t decode) {
  const std::int64_t larger = std::max(prefill, decode);
  const std::int64_t common = std::gcd(prefill, decode);
  std::int64_t most = 1;
  for (std::int64_t n = 2; n <= common && larger > kMostReplicas; ++n) {
    most = common % n == 0 && larger / n >= kFewReplicas ? n : most;
  }
  return most;
}

workloads::Traffic prompts_of(const workloads::Traffic& traffic) {
  workloads::Traffic prompts = traffic;
  prompts.output_tokens = 1;
  prompts.output = {};
  return prompts;
}
ScenarioView with(const ScenarioView& scenario, const workloads::Traffic& traffic) {
  ScenarioView s = scenario;
  s.traffic = &traffic;
  return s;
}

const ScenarioView& drafting(PoolScenarios& pools, const DraftModel* draft) {
  pools.draft_with(draft);
  return pools.decode();
}

Limit longest(std::initializer_list<std::pair<Seconds, Limit>> parts) {
  return std::ranges::max_element(parts, {}, &std::pair<Seconds, Limit>::first)->second;
}

class TwoPools {
 public:
  TwoPools(const ScenarioView& s, Workspace& workspace)
      : s_(s),
        workspace_(workspace),
        pools_(s),
        draft_(draft_model_of(pools_.decode())),
        prompts_(prompts_of(*s.traffic)),
        of_prompts_(with(pools_.prefill(), prompts_)),
        prefill_(of_prompts_, as_double(s.serving->limits.max_sequences), workspace),
        of_answers_(drafting(pools_, draft_.get())),
        decode_(
            of_answers_,
            std::max(1.0, std::floor(sequences_in(footprint_of(of_answers_).cache, of_answers_))),
            workspace),
        parts_(parts(s.pools->prefill.replicas, s.pools->decode.replicas)),
        takers_(pools_.prefill(), as_double(s.pools->prefill.replicas / parts_), workspace),
        answerers_(of_answers_, as_double(s.pools->decode.replicas / parts_), workspace),
        replicas_(as_double(s.pools->decode.replicas)),
        ports_(as_double(s.pools->prefill.replicas * s.pools->prefill.mapping.data_parallel)),
        decodes_(decode_.decodes_) {
    const auto input = as_double(s.traffic->input_tokens);
    whole_ = decodes_ > 0.0 ? kv_transfer(s, input).time : Seconds{};
    const Seconds half = decodes_ > 0.0 ? kv_transfer(s, 0.5 * input).time : Seconds{};
    token_ = base::max(Seconds{}, 2.0 / input * (whole_ - half));
    const Hertz none = Hertz::infinity();
    computed_ = as_double(s.pools->prefill.replicas) * prefill_.saturation(takers_.q);
    sent_ = whole_ > Seconds{} ? ports_ / whole_ : none;
    const Seconds answer =
        decode_.messages() / as_double(s.serving->front_ends_of(*of_answers_.mapping));
    answered_ = answer > Seconds{} ? replicas_ / answer : none;
    decoded_ = decodes_ > 0.0 ? rate(places()) : none;
  }

  PoolsState open() {
    PoolsState all;
    SteadyState& r = all.steady;
    const Hertz rate = workloads::mean_rate(*s_.traffic->arrivals);
    const Hertz most = base::min(bound(), decoded_);
    r.saturation = most / base::hertz;
    r.utilisation = rate / most;
    all.full = decoded_ <= most    ? PoolKind::decode
               : computed_ <= most ? PoolKind::prefill
                                   : PoolKind::none;
    if (r.utilisation >= 1.0) {
      return all;
    }
    double present = 1.0;
    for (int i = 0; i < kRounds; ++i) {
      present = std::min(rate * decodes_ * interval(present), 0.9 * places());
    }
    const double share = 1.0 / as_double(parts_);
    report(s_.scans ? roughly(rate, present)
                    : open_sample(pools(), s_, share, present * share, open_count(s_, share)),
           rate, r);
    r.throughput_limit = Limit::arrivals;
    return all;
  }

  PoolsState closed(std::span<const Seconds> pauses) {
    const auto all = as_double(s_.traffic->concurrency);
    const double clients = std::max(1.0, std::round(all / as_double(parts_)));
    const double decoding = decodes_ > 0.0 ? present(all) : 0.0;
    const double spread = pauses.empty() ? decoding / as_double(parts_) : 0.0;
    const double running = std::min(clients, std::floor(spread));
    const FollowedSample followed =
        s_.scans ? roughly(rate_with(decoding), decoding)
                 : closed_sample(pools(), s_, static_cast<std::size_t>(clients),
                                 static_cast<std::size_t>(running), pauses);
    PoolsState result;
    SteadyState& r = result.steady;
    const Hertz rate = all / (followed.pause + followed.stay);
    const Limit of_prompts = report(followed, rate, r);
    const Hertz most = kNearlyFull * bound();
    r.throughput_limit = rate * followed.decoding > kNearlyFull * places() ? Limit::slots
                         : rate < most                                     ? r.tpot_limit
                         : kNearlyFull * computed_ <= most                 ? of_prompts
                         : kNearlyFull * sent_ <= most                     ? Limit::network
                                                                           : Limit::host;
    return result;
  }

  // What a sample would say, about: prompts wait for a replica of the prefill pool, as in M/G/c, and sequences for the next
  // iteration of the other.
  FollowedSample roughly(Hertz rate, double present) {
    FollowedSample r;
    const Wait wait = prompt_wait(rate);
    const auto clients = as_double(s_.traffic->concurrency);
    r.decoding = decodes_ > 0.0 ? stay(present) : Seconds{};
    const Seconds first = alone(present) + wait.mean;
    r.stay = base::max(first + r.decoding, clients / rate);
    const Seconds more = r.stay - r.decoding - first;  // for a pool that is full
    r.waits = wait.mean + (present < kNearlyFull * places() ? more : Seconds{});
    r.handed = whole_ + join(present) + (wait.mean + more - r.waits);
    r.first = r.waits + prompt_time() + r.handed;
    r.ttft.add(1.0 - wait.chance, alone(present) + more, {}, {});
    if (wait.chance > 0.0) {
      const Seconds longer = wait.mean / wait.chance;
      r.ttft.add(wait.chance, alone(present) + more + longer, longer * longer,
                 alone(present) + more);
    }
    r.tpot.add(1.0, r.decoding / std::max(1.0, as_double(s_.traffic->output_tokens - 1)), {}, {});
    r.attainment = attainment_of(s_.traffic->classes, r.ttft, r.tpot, r.decoding);
    return r;
  }

 private:
  base::queueing::IterationPools pools() const {
    return {takers_.q, answerers_.q, whole_ - token_ * as_double(s_.traffic->input_tokens), token_};
  }
  double places() const { return replicas_ * decode_.slots_; }
  // From a token to the next, where so many sequences decode in the pool.
  Seconds interval(double present) { return answerers_.interval(present / replicas_); }
  Seconds stay(double present) { return decodes_ * interval(present); }
  Hertz rate(double present) { return present / stay(present); }
  // What serves requests beside the decodes.
  Hertz bound() const { return base::min(computed_, base::min(sent_, answered_)); }

  // Of a prompt that meets no other.
  Seconds prompt_time() {
    const auto input = as_double(s_.traffic->input_tokens - s_.traffic->cached_tokens);
    const workloads::Batch one = prefill_.costs_.prompts_of(0, 1.0);
    const double iterations =
        std::max(1.0, input / as_double(one.prefill_sequences * one.prefill_tokens));
    return iterations * prefill_.costs_.time(one).latency;
  }
  // TTFT of a request that waits for no other.
  Seconds alone(double present) {
    return pools_.prefill().serving->stack.request_overhead + prefill_.intake() + prompt_time() +
           whole_ + join(present);
  }
  Seconds join(double present) {
    return decodes_ > 0.0 ? 0.5 * std::min(1.0, present / replicas_) * interval(present)
                          : Seconds{};
  }

  struct Wait {
    Seconds mean;
    double chance = 0;
  };
  Wait prompt_wait(Hertz rate) const {
    const auto servers = s_.pools->prefill.replicas;
    const auto clients = as_double(s_.traffic->concurrency);
    const double others = s_.traffic->arrivals ? 1.0 : (clients - 1.0) / clients;
    const base::queueing::Queue queue = base::queueing::allen_cunneen(
        base::min(others * rate, kNearlyFull * computed_), as_double(servers) / computed_, servers,
        1.0, squared_variation(s_.traffic->input));
    return {queue.wait, queue.wait_probability};
  }
  // Sequences that decode where so many clients do that or have their prompts computed (Little's law): the least number,
  // as they come one after the other. Of iterations that are padded, a larger one can meet the law too.
  double present(double clients) {
    const double all = std::min(clients, places());
    const auto is_beyond = [&](double d) {
      const Hertz now = rate(std::max(d, kClose));
      return now > bound() || now * (alone(d) + prompt_wait(now).mean) + d > clients;
    };
    double most = all;
    for (int i = 1; i < kSteps; ++i) {
      if (const double d = all * i / kSteps; is_beyond(d)) {
        most = d;
        break;
      }
    }
    double least = most - all / kSteps;
    for (int i = 0; i < kRounds && most - least > kClose * most; ++i) {
      const double d = 0.5 * (least + most);
      (is_beyond(d) ? most : least) = d;
    }
    return most;
  }
  // Requests a second of a closed loop with so many of them.
  Hertz rate_with(double present) {
    const auto clients = as_double(s_.traffic->concurrency);
    const Hertz idle = clients / (alone(present) + (decodes_ > 0.0 ? stay(present) : Seconds{}));
    return base::min(idle, base::min(bound(), decodes_ > 0.0 ? rate(present) : bound()));
  }

  // The batches behind the numbers; returns what bounds the prefill pool.
  Limit report(const FollowedSample& followed, Hertz rate, SteadyState& r) {
    const workloads::StageTime& stages = s_.traffic->stages;
    LatencyMixture ttft = followed.ttft;
    ttft.shift(stages.mean, stages.variance, {});
    report_latencies(s_, ttft, followed.tpot, r);
    r.requests_per_second = rate / base::hertz;
    r.end_to_end = stages.mean + followed.stay;
    r.attainment = followed.attainment;
    const double present = rate * followed.decoding;
    const auto groups = as_double(of_answers_.mapping->data_parallel);
    r.decode_batch = r.running = present / (replicas_ * groups);
    r.prompt_share = as_double(s_.pools->prefill.ranks()) / as_double(s_.pools->ranks());

    r.prefill_iteration = prefill_.costs_.prompts_of(0, std::max(1.0, followed.path.together));
    const IterationCost prompts = iteration_cost(pools_.prefill(), r.prefill_iteration, workspace_);
    r.prefill_clock = r.decode_clock = prompts.clock;
    IterationCost decode;
    if (decodes_ > 0.0) {
      r.decode_iteration = decodes_of(present);
      decode = iteration_cost(of_answers_, r.decode_iteration, workspace_);
      r.decode_clock = decode.clock;
      r.tpot_spread = decode.spread(of_answers_.platform->machine.uncertainty);
    }
    r.held_up = followed.held_share();
    r.tpot_limit = IterationMix{decode, prompts}.limit(decodes_ > 0.0 ? 0.0 : 1.0, r.held_up);
    r.power = power(rate, prompts, decode, r);

    const Seconds waits = followed.waits + followed.slot;
    const Seconds service = base::max(Seconds{}, followed.first - followed.waits - followed.handed);
    const Seconds place = base::max(Seconds{}, followed.handed - whole_);
    const Seconds host = r.ttft_mean - stages.mean - waits - service - followed.handed;
    r.ttft_host = std::clamp(host / r.ttft_mean, 0.0, 1.0);
    r.ttft_limit = longest({{waits, Limit::waiting},
                            {service, prompts.limit()},
                            {place, Limit::slots},
                            {stages.mean, Limit::stages},
                            {whole_, Limit::network},
                            {host, Limit::host}});
    const models::Spread of_prompts =
        prompts.spread(pools_.prefill().platform->machine.uncertainty);
    const double served = std::min(1.0, (service + waits) / r.ttft_mean);
    const double queued = std::min(1.0, place / r.ttft_mean);
    r.ttft_spread = {served * of_prompts.below + queued * r.tpot_spread.below,
                     served * of_prompts.above + queued * r.tpot_spread.above};
    return prompts.limit();
  }

  // Of a rank, where so many sequences are in the pool. Fewer than ranks leave some empty.
  workloads::Batch decodes_of(double present) const {
    const double replica = std::max(1.0, present / replicas_);
    const std::int64_t ranks = of_answers_.mapping->data_parallel;
    const std::int64_t groups = std::clamp<std::int64_t>(std::llround(replica), 1, ranks);
    workloads::Batch batch = decode_.costs_.decode_batch(
        std::max<std::int64_t>(1, std::llround(replica / as_double(groups) / decode_.stages_)));
    batch.groups = groups;
    return batch;
  }

  // Mean power of one GPU of both pools.
  base::Watts power(Hertz rate, const IterationCost& prompts, const IterationCost& decode,
                    const SteadyState& r) const {
    const auto mean = [&](const ScenarioView& pool, Hertz iterations, const IterationCost& cost) {
      const models::PowerRates& rates = pool.platform->machine.power;
      const double stages = as_double(pool.mapping->pipeline_parallel);
      const base::Watts watts = rates.rest() + (iterations * base::second) / stages *
                                                   cost.energy_above_idle / base::second;
      return as_double(pool.serving->replicas * pool.mapping->ranks()) /
             as_double(s_.pools->ranks()) * (watts > rates.limit ? rates.limit : watts);
    };
    const auto prompt = as_double(s_.traffic->input_tokens - s_.traffic->cached_tokens);
    const double iterations = prompt / as_double(r.prefill_iteration.prefill_sequences *
                                                 r.prefill_iteration.prefill_tokens);
    const double ranks = replicas_ * as_double(of_answers_.mapping->data_parallel);
    const Hertz decoded =
        decodes_ > 0.0 ? rate / ranks * decodes_ / as_double(r.decode_iteration.decode_sequences)
                       : Hertz{};
    return mean(pools_.prefill(), rate / ports_ * iterations, prompts) +
           mean(of_answers_, decoded, decode);
  }

  const ScenarioView& s_;
  Workspace& workspace_;
  PoolScenarios pools_;
  std::unique_ptr<const DraftModel> draft_;
  workloads::Traffic prompts_;  // without answers
  ScenarioView of_prompts_;
  PoolServer prefill_;
  const ScenarioView& of_answers_;
  PoolServer decode_;
  std::int64_t parts_;
  FollowedServers takers_;
  FollowedServers answerers_;
  double replicas_;  // of the decode pool
  double ports_;     // that send KV caches
  double decodes_;   // of an answer; 0: answers of one token
  Seconds whole_;    // transfer of the cache of a prompt
  Seconds token_;    // of it, for each token
  // What each part can serve:
  Hertz computed_;
  Hertz sent_;
  Hertz answered_;
  Hertz decoded_;
};

}  // namespace

PoolsState two_pools(const ScenarioView& s, std::span<const Seconds> pauses, Workspace& workspace) {
  TwoPools solver(s, workspace);
  return s.traffic->arrivals ? solver.open() : solver.closed(pauses);
}

}  // namespace roofcast::sim
