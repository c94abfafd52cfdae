// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/disaggregated.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <memory>
#include <utility>

#include "base/integers.hpp"
#include "base/queueing/open_queue.hpp"
#include "sim/iteration/draft_model.hpp"
#include "sim/result/feasibility.hpp"
#include "sim/scenario/pools.hpp"
#include "sim/serving/agents.hpp"
#include "sim/serving/decode_pool.hpp"
#include "sim/serving/front_end_load.hpp"
#include "sim/serving/latency_mixture.hpp"
#include "sim/serving/prefill_pool.hpp"
#include "sim/serving/sampled_loop.hpp"

namespace roofcast::sim {
namespace {
using base::as_double;
using base::Seconds;
using base::square;
using base::SquareSeconds;

constexpr int kPoolBisections = 30;
constexpr double kPoolTolerance = 1e-4;
constexpr double kMostBusy = 0.98;  // of a station of a closed loop that is not the bound

// A part of TTFT that requests wait for.
struct Wait {
  Seconds mean;
  SquareSeconds variance;
  double probability = 1;  // that a request waits
  void add(Seconds more, SquareSeconds more_variance) {
    mean += more;
    variance += more_variance;
  }
};
// A wait that happens with a probability and is then exponential.
Wait exponential(Seconds mean, double probability) {
  return {mean, probability > 0.0 ? square(mean) * (2.0 / probability - 1.0) : SquareSeconds{}};
}

class TwoPools {
 public:
  TwoPools(const ScenarioView& s, const PoolScenarios& pools, base::Bytes cache,
           Workspace& workspace)
      : s_(s),
        workspace_(workspace),
        pools_(pools),
        prefill_(pools.prefill(), workspace),
        decode_(pools.decode(), cache, workspace),
        decodes_(decode_.iterations() > 0.0),
        random_(s.traffic->arrivals || squared_variation(s.traffic->input) > 0.0 ||
                squared_variation(s.traffic->output) > 0.0),
        ports_(as_double(s.pools->prefill.replicas * s.pools->prefill.mapping.data_parallel)) {
    const workloads::Stack& stack = pools.prefill().serving->stack;
    SquareSeconds squares;
    SquareSeconds own_squares;
    least_ = Seconds::infinity();
    for (const PromptClass& prompt : prefill_.classes()) {
      const Seconds intake = workloads::intake_time(stack, prompt.tokens);
      const Seconds sent = decodes_ ? kv_transfer(s, prompt.tokens).time : Seconds{};
      const Seconds own = stack.request_overhead + intake + prompt.service + sent;
      intake_ += prompt.weight * intake;
      intake_square_ += prompt.weight * square(intake);
      transfer_ += prompt.weight * sent;
      squares += prompt.weight * square(sent);
      own_ += prompt.weight * own;
      own_squares += prompt.weight * square(own);
      least_ = base::min(least_, own);
    }
    own_variance_ = base::max(SquareSeconds{}, own_squares - square(own_));
    transfer_scv_ = decodes_ ? std::max(0.0, squares / square(transfer_) - 1.0) : 0.0;
    message_ = stack.message_overhead / as_double(s.serving->policy.stream_interval);
    const auto& [prefill, decode] = *s.pools;
    takers_ = as_double(prefill.replicas * s.serving->front_ends_of(prefill.mapping));
    senders_ = as_double(decode.replicas * s.serving->front_ends_of(decode.mapping));
    const Seconds answer = as_double(s.traffic->output_tokens) * message_;
    most_ = std::min({prefill_.capacity(), decodes_ ? ports_ / transfer_.si() : kNoBound,
                      intake_ > Seconds{} ? takers_ / intake_.si() : kNoBound,
                      answer > Seconds{} ? senders_ / answer.si() : kNoBound});
  }

  SteadyState open() {
    SteadyState r;
    const double rate = workloads::mean_rate(*s_.traffic->arrivals).si();
    const double full = decodes_ ? decode_.rate(decode_.places()) : kNoBound;
    r.saturation = std::min(most_, full);
    r.utilisation = rate / r.saturation;
    full_ = full < most_                          ? PoolKind::decode
            : most_ < prefill_.capacity() * 0.999 ? PoolKind::none
                                                  : PoolKind::prefill;
    if (r.utilisation >= 1.0) {
      return r;
    }
    const workloads::Burstiness bursts = workloads::burstiness(*s_.traffic->arrivals);
    DecodePool::Load load;
    if (decodes_) {
      const Seconds stay = decode_.iterations() * decode_.interval(1.0);
      load = decode_.load(rate, bursts.dispersion(stay));
    }
    first_ = prefill_wait(prefill_.of_random(rate));
    const double spread = bursts.dispersion(base::max(first_.mean, prefill_.service()));
    first_.mean = std::max(0.0, 0.5 * (1.0 + spread)) * first_.mean;
    first_.variance *= square(0.5 * (1.0 + spread));
    send_ = port_wait(rate);
    join_ = join(load.busy, load.interval);
    slot_ = exponential(load.wait, load.waits);
    front_ = front_wait(rate);
    delivery_ = delivery(load.running);
    report(rate, load.running, load.interval, load.interval_variance, r);
    r.throughput_limit = Limit::arrivals;
    return r;
  }

  SteadyState closed() {
    clients_ = as_double(s_.traffic->concurrency);
    others_ = (clients_ - 1.0) / clients_;
    double present = 0.0;
    double rate = 0.0;
    if (decodes_) {
      const double high = std::min(clients_, decode_.places());
      present = root(high, [&](double guess) {
        const double completed = rate_at(guess);
        return completed >= most_ ? kNoBound : completed * outside(completed, guess).si() + guess;
      });
      rate = std::min(rate_at(present), most_);
    } else {
      rate = root(most_, [&](double guess) { return guess * outside(guess, 0.0).si(); });
    }
    const Seconds interval = decodes_ ? interval_at(present) : Seconds{};
    const Seconds cycle = clients_ / rate * base::second;
    // Clients that are in no other place wait for the pool that is full.
    const Seconds left =
        base::max(Seconds{}, cycle - outside(rate, present) - decode_.iterations() * interval);
    SteadyState r;
    const bool bound = rate > kMostBusy * most_;
    const bool slots = decodes_ && !bound && present >= decode_.places() * (1.0 - kPoolTolerance) &&
                       left > 0.01 * cycle;
    // Each of those before it leaves after 1/rate, more or less.
    const SquareSeconds gaps = random_ ? left / rate * base::second : SquareSeconds{};
    (slots ? slot_ : first_).add(left, gaps);
    first_.probability = bound ? 1.0 : first_.probability;
    if (random_) {
      // The number of clients elsewhere is Poisson, at most, and the others are in the queue. A pool that is always busy
      // sends them on at regular times, which halves the variance (exactly so for exponential answers: D/M/∞).
      const double queued = std::min(clients_, rate * first_.mean.si());
      first_.variance =
          base::min(first_.variance, (0.5 * (clients_ - queued) + queued * prefill_.spread()) /
                                         square(prefill_.capacity()) * square(base::second));
    }
    SquareSeconds variance;
    if (random_ && decodes_ && !slots) {
      const double share = std::min(1.0, present / clients_);
      const double deviation = std::sqrt(clients_ * share * (1.0 - share));
      const Seconds reach =
          decode_.interval(present + deviation) - decode_.interval(present - deviation);
      variance = square(0.5 * reach);
    }
    report(rate, present, interval, variance, r);
    r.throughput_limit = slots                                  ? Limit::slots
                         : bound && most_ < prefill_.capacity() ? bound_of_most()
                         : bound                                ? r.ttft_limit
                                                                : r.tpot_limit;
    if (bound && most_ >= prefill_.capacity()) {
      r.throughput_limit =
          iteration_cost(pools_.prefill(), r.prefill_iteration, workspace_).limit();
    }
    return r;
  }

  PoolKind full() const { return full_; }

 private:
  static constexpr double kNoBound = std::numeric_limits<double>::infinity();
  // The largest x up to `high` for which Little's law asks for at most the clients. `clients_of` rises with x.
  template <class Clients>
  double root(double high, Clients clients_of) const {
    if (clients_of(high) <= clients_) {
      return high;
    }
    double low = 0.0;
    for (int i = 0; i < kPoolBisections && high - low > kPoolTolerance * high; ++i) {
      const double middle = 0.5 * (low + high);
      (clients_of(middle) > clients_ ? high : low) = middle;
    }
    return 0.5 * (low + high);
  }

  // A sequence of a closed loop decodes beside those of the other clients.
  Seconds interval_at(double present) { return decode_.interval(1.0 + others_ * present); }
  double rate_at(double present) {
    return present / (decode_.iterations() * interval_at(present).si());
  }

  // The part of a client's cycle outside the decodes. Sets the waits. Clients with equal requests come at equal
  // intervals: their cycles are equally long.
  Seconds outside(double rate, double present) {
    first_ = send_ = front_ = {};
    const double met = std::min(others_ * rate, kMostBusy * prefill_.capacity());
    first_ = prefill_wait(random_ ? prefill_.of_random(met) : prefill_.of_regular(met));
    send_ = port_wait(0.0);
    if (random_) {
      send_ = port_wait(std::min(others_ * rate, kMostBusy * ports_ / transfer_.si()));
      front_ = front_wait(rate);
    }
    join_ = decodes_ ? join(decode_.busy(others_ * present), interval_at(present)) : Wait{};
    slot_ = {};
    delivery_ = delivery(present);
    return own_ + first_.mean + send_.mean + front_.mean + join_.mean + delivery_;
  }

  Wait prefill_wait(const PrefillPool::Wait& wait) {
    together_ = wait.together;
    return {wait.mean, base::max(SquareSeconds{}, wait.square - square(wait.mean)), wait.waits};
  }

  // The caches of prompts that were computed together on a rank are sent one after the other. Prompts leave a replica
  // one service apart, so others queue only if a transfer takes longer. `met`: 1/s, arrivals at random times.
  Wait port_wait(double met) const {
    if (!decodes_) {
      return {};
    }
    const double groups = as_double(s_.pools->prefill.mapping.data_parallel);
    const double behind = 0.5 * (std::max(1.0, together_ / groups) - 1.0);
    const double longer = std::min(1.0, transfer_ / prefill_.service());
    const Seconds queue =
        longer *
        base::queueing::mg1(base::Hertz::from_si(met / ports_), transfer_, transfer_scv_).wait;
    Wait wait = exponential(queue, std::min(1.0, met / ports_ * transfer_.si()));
    wait.add(behind * transfer_, square(behind * transfer_) / 3.0);
    return wait;
  }

  // A request starts with the next iteration, or when the scheduler looks for requests.
  Wait join(double busy, Seconds interval) const {
    const Seconds gap = as_double(pools_.decode().serving->policy.receive_iterations) * interval;
    const Seconds mean = 0.5 * busy * gap;
    return {mean, busy * square(gap) / 3.0 - square(mean)};
  }

  // Prefill replicas take requests in. Decode replicas send tokens.
  Wait front_wait(double rate) const {
    const FrontEndLoad load{
        .rate = rate / takers_ * base::hertz, .intake = intake_, .intake_square = intake_square_};
    return exponential(load.wait(), load.load());
  }
  // From the first decode to the message that the client sees, behind those of the iteration before.
  Seconds delivery(double present) const {
    const double burst = present / senders_ * s_.serving->speculation.tokens_per_iteration();
    return decodes_ ? (burst + 1.0) * message_ : Seconds{};
  }
  Limit bound_of_most() const {
    return decodes_ && most_ >= 0.999 * ports_ / transfer_.si() ? Limit::network : Limit::host;
  }

  void report(double rate, double present, Seconds interval, SquareSeconds interval_variance,
              SteadyState& r) {
    const Seconds decoding = decode_.iterations() * interval;
    r.requests_per_second = rate;
    const Seconds stages = s_.traffic->stages.mean;
    r.ttft_mean = stages + own_ + first_.mean + send_.mean + front_.mean + join_.mean + slot_.mean +
                  delivery_;
    const LatencyMixture ttft = ttft_times(r.ttft_mean);
    r.ttft_p50 = ttft.quantile(0.5);
    r.ttft_tail = ttft.tail();
    r.end_to_end = r.ttft_mean + decoding;
    r.decode_batch = r.running = present / decode_.ranks();
    r.prefill_iteration = prefill_.iteration(together_);
    const IterationCost prompts = iteration_cost(pools_.prefill(), r.prefill_iteration, workspace_);
    r.prefill_clock = r.decode_clock = prompts.clock;
    const models::Spread of_prompts =
        prompts.spread(pools_.prefill().platform->machine.uncertainty);
    IterationCost decode;
    if (decodes_) {
      r.decode_iteration = decode_.iteration(present);
      decode = iteration_cost(pools_.decode(), r.decode_iteration, workspace_);
      r.decode_clock = decode.clock;
      r.tpot_spread = decode.spread(pools_.decode().platform->machine.uncertainty);
    }
    const LatencyMixture tpot = report_tpot(interval, interval_variance, r);
    r.attainment = attainment(ttft, tpot, r);
    r.power = power(rate, prompts, decode, r);
    r.prompt_share = as_double(s_.pools->prefill.ranks()) / as_double(s_.pools->ranks());
    const double served = (prefill_.service() + first_.mean) / r.ttft_mean;
    const double queued = slot_.mean / r.ttft_mean;
    r.ttft_spread = {served * of_prompts.below + queued * r.tpot_spread.below,
                     served * of_prompts.above + queued * r.tpot_spread.above};
    r.ttft_limit = longest({{first_.mean, Limit::waiting},
                            {prefill_.service(), prompts.limit()},
                            {slot_.mean, Limit::slots},
                            {stages, Limit::stages},
                            {transfer_ + send_.mean, Limit::network},
                            {own_ - prefill_.service() - transfer_ + front_.mean, Limit::host}});
    r.tpot_limit = decodes_ ? decode.limit() : prompts.limit();
  }

  // TTFT of requests that wait for a prefill replica, and of those that do not.
  LatencyMixture ttft_times(Seconds mean) const {
    const SquareSeconds others = s_.traffic->stages.variance + own_variance_ + send_.variance +
                                 front_.variance + join_.variance + slot_.variance;
    const double p = std::clamp(first_.probability, 0.0, 1.0);
    LatencyMixture ttft;
    if (p < 1e-6 || first_.mean.si() <= 0.0) {
      ttft.add(1.0, mean, others, least_);
      return ttft;
    }
    // E[W²] is p times that of the requests that wait.
    const Seconds wait = first_.mean / p;
    const SquareSeconds variance = (first_.variance + square(first_.mean)) / p - square(wait);
    const Seconds without = mean - first_.mean;
    ttft.add(1.0 - p, without, others, least_);
    ttft.add(p, without + wait, others + base::max(SquareSeconds{}, variance), least_);
    return ttft;
  }

  // The number of accepted drafts varies too: an answer takes n/E[X] iterations, give or take Var X/E[X]² of one.
  LatencyMixture report_tpot(Seconds interval, SquareSeconds interval_variance, SteadyState& r) {
    LatencyMixture tpot;
    if (!decodes_) {
      return tpot;
    }
    const workloads::Speculation& speculation = s_.serving->speculation;
    const double a_token = decode_.iterations() / as_double(s_.traffic->output_tokens - 1);
    r.tokens_per_iteration = speculation.tokens_per_iteration();
    r.tpot = a_token * interval;
    const double accepted = speculation.squared_variation() / decode_.iterations();
    const SquareSeconds variance =
        decode_.averaged() * interval_variance + accepted * square(interval);
    tpot.add(1.0, r.tpot, square(a_token) * variance,
             a_token * base::min(interval, decode_.interval(1.0)));
    r.tpot_tail = tpot.tail();
    return tpot;
  }

  // Share of the requests that meet every objective of their class. TTFT and TPOT are taken as independent. NaN without
  // objectives.
  double attainment(const LatencyMixture& ttft, const LatencyMixture& tpot,
                    const SteadyState& r) const {
    if (!any_objective(s_.traffic->classes)) {
      return std::numeric_limits<double>::quiet_NaN();
    }
    double sum = 0.0;
    for (const workloads::RequestClass& each : s_.traffic->classes) {
      const workloads::Objectives& o = each.objectives;
      double share = o.ttft ? ttft.share_within(*o.ttft) : 1.0;
      share *= o.tpot && decodes_ ? tpot.share_within(*o.tpot) : 1.0;
      if (o.end_to_end) {
        const double answers = as_double(s_.traffic->output_tokens - 1);
        const double scv = squared_variation(s_.traffic->output);
        LatencyMixture all;
        all.add(1.0, r.end_to_end,
                ttft.variance() + (decodes_ ? square(answers) * tpot.variance() : SquareSeconds{}) +
                    scv * square(r.end_to_end - r.ttft_mean),
                least_);
        share = std::min(share, all.share_within(*o.end_to_end));
      }
      sum += each.share * share;
    }
    return sum;
  }

  static Limit longest(std::initializer_list<std::pair<Seconds, Limit>> parts) {
    return std::max_element(parts.begin(), parts.end(),
                            [](const auto& a, const auto& b) { return a.first < b.first; })
        ->second;
  }

  // Mean power of one GPU of both pools.
  base::Watts power(double rate, const IterationCost& prompts, const IterationCost& decode,
                    const SteadyState& r) const {
    const auto mean = [&](const ScenarioView& pool, double iterations, const IterationCost& cost) {
      const models::PowerRates& rates = pool.platform->machine.power;
      const double stages = as_double(pool.mapping->pipeline_parallel);
      const base::Watts watts =
          rates.idle + iterations / stages * cost.energy_above_idle / base::second;
      return as_double(pool.serving->replicas * pool.mapping->ranks()) /
             as_double(s_.pools->ranks()) * (watts > rates.limit ? rates.limit : watts);
    };
    const double prompt_iterations =
        rate / ports_ * prefill_.iterations() / as_double(r.prefill_iteration.prefill_sequences);
    const double decode_iterations = decodes_ ? rate / decode_.ranks() * decode_.iterations() /
                                                    as_double(r.decode_iteration.decode_sequences)
                                              : 0.0;
    return mean(pools_.prefill(), prompt_iterations, prompts) +
           mean(pools_.decode(), decode_iterations, decode);
  }

  const ScenarioView& s_;
  Workspace& workspace_;
  const PoolScenarios& pools_;
  PrefillPool prefill_;
  DecodePool decode_;
  bool decodes_;   // false: answers of one token
  bool random_;    // false: equal requests of a closed loop
  double ports_;   // that send KV caches
  Seconds own_;    // TTFT of a request that waits for nothing
  Seconds least_;  // that of the shortest prompt
  SquareSeconds own_variance_;
  Seconds intake_;
  SquareSeconds intake_square_;
  Seconds transfer_;  // of one KV cache
  double transfer_scv_ = 0;
  Seconds message_;     // of the front end, a token
  double takers_ = 1;   // processes of front ends that take requests in
  double senders_ = 1;  // and of those that send tokens
  double most_ = 0;     // 1/s, the rate that prefill, transfers and front end bound
  double clients_ = 0;
  double others_ = 1.0;  // (N−1)/N
  PoolKind full_ = PoolKind::none;
  // State of the solution: waits, and prompts of an iteration.
  Wait front_;
  Wait first_;
  Wait send_;
  Wait slot_;
  Wait join_;
  Seconds delivery_;
  double together_ = 1.0;
};

// The steady state of two pools under the traffic of the scenario.
SteadyState serve(const ScenarioView& s, Workspace& workspace) {
  PoolScenarios pools(s);
  const std::unique_ptr<const DraftModel> draft = draft_model_of(pools.decode());
  pools.draft_with(draft.get());
  TwoPools solver(s, pools, footprint_of(pools.decode()).cache, workspace);
  return s.traffic->arrivals ? solver.open() : solver.closed();
}

}  // namespace

ServingEstimate disaggregated_estimate(const ScenarioView& s, Workspace& workspace) {
  ServingEstimate e;
  const GpuKinds kinds = gpu_kinds(s);
  for (const Gpus& gpus : kinds) {
    e.provenance = std::max(e.provenance, gpus.platform->system.provenance());
  }
  e.gpus = gpus_of(s);
  if (!pools_are_connected(s)) {
    e.infeasible = infeasible::NoNetwork{};
    return e;
  }
  PoolScenarios pools(s);
  const std::unique_ptr<const DraftModel> draft = draft_model_of(pools.decode());
  pools.draft_with(draft.get());
  workloads::Traffic prompts = *s.traffic;
  prompts.output_tokens = 1;
  ScenarioView prefill = pools.prefill();
  prefill.traffic = &prompts;
  PoolMemory of_prefill;
  PoolMemory of_decode;
  if (!check_pool(prefill, PoolKind::prefill, kinds.of[0].count, e, of_prefill) ||
      !check_pool(pools.decode(), PoolKind::decode, kinds.of[kinds.size - 1].count, e, of_decode)) {
    return e;
  }
  e.max_running = of_decode.footprint.cache / of_decode.cache.mean_request;
  TwoPools solver(s, pools, of_decode.footprint.cache, workspace);
  if (s.traffic->agents) {
    e.footprint = of_prefill.footprint;
    e.steady = agents_steady_state(s, {pools.prefill(), of_prefill.cache.mean_request, serve}, e,
                                   workspace);
  } else {
    e.steady = s.traffic->arrivals ? solver.open() : solver.closed();
  }
  check_load(s, e);
  if (!e.fits()) {
    e.pool = solver.full();
    return e;
  }
  if (is_followed(s) && !s.traffic->agents) {
    sample_pools(s, pools, workspace, e.steady);
  }
  e.spreads = spreads_of(pools.decode(), e.steady);
  // Memory of a pool: its fixed part and the KV caches in use. A prefill rank holds prompts for TTFT (Little's law).
  const double prompts_held =
      e.steady.requests_per_second * (e.steady.ttft_mean / base::second) /
      as_double(s.pools->prefill.replicas * s.pools->prefill.mapping.data_parallel);
  const base::Bytes held =
      base::min(prompts_held * of_prefill.cache.full_request, of_prefill.footprint.cache);
  const base::Bytes running =
      base::min(e.steady.running * of_decode.cache.mean_request, of_decode.footprint.cache);
  e.footprint = of_prefill.footprint.weights > of_decode.footprint.weights ? of_prefill.footprint
                                                                           : of_decode.footprint;
  e.memory = base::max(of_prefill.footprint.fixed() + held, of_decode.footprint.fixed() + running);
  return e;
}

}  // namespace roofcast::sim
