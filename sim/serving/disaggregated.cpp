// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/disaggregated.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <utility>

#include "sim/result/feasibility.hpp"
#include "sim/scenario/pools.hpp"
#include "sim/serving/prompt_chunks.hpp"

namespace roofcast::sim {
namespace {

using base::Seconds;

constexpr int kBisections = 30;
constexpr double kTolerance = 1e-4;
constexpr double kMostBusy = 0.98;  // of formulas of waiting; beyond it Little's law decides

double count(std::int64_t n) { return static_cast<double>(n); }

// The prefill pool.
//
//   name            symbol of the header              name       meaning
//   alpha_          α                                 alone      an iteration with one prompt on one rank
//   fixed_          τ₀ = τ(1) − α                     full       an iteration with K prompts
//   most_           K                                 service_   s, a prompt that does not wait
//   arriving        λ'                                used       ρ
//   busy            λ'α                               shared     Sakasegawa's factor
//   first, second   φ₀, φ₁                            all        s, wait in the batch queue and service
class PrefillPool {
 public:
  PrefillPool(const ScenarioView& s, Workspace& workspace)
      : s_(s),
        workspace_(workspace),
        plan_(plan_of(s, 0)),
        replicas_(count(s.serving->replicas)),
        groups_(s.mapping->data_parallel) {
    whole_ = std::min(plan_.whole, count(s.serving->limits.max_sequences));
    const IterationCost alone = cost(1, 1);
    service_ = alone.latency + (plan_.iterations - 1.0) * alone.period;
    most_ = whole_ * count(groups_);
    const Seconds full = cost(static_cast<std::int64_t>(whole_), groups_).period;
    alpha_ = (plan_.iterations * full / most_).si();
    fixed_ = std::max(0.0, (plan_.iterations * alone.period).si() - alpha_);
    alpha_ = most_ > 1.0 ? alpha_ : (plan_.iterations * alone.period).si();
  }

  double capacity() const { return replicas_ / alpha_; }  // requests per second

  // From the queue to the first token, at `rate` requests per second. An arrival finds a share `others` of the clients.
  Seconds time(double rate, double others) const {
    const double arriving = std::min(others * rate / replicas_, kMostBusy / alpha_);
    const double busy = arriving * alpha_;
    double all = alpha_ + fixed_;
    if (most_ > 1.0) {
      const double first =
          0.5 * (alpha_ + fixed_) / (1.0 - busy) *
          (1.0 + 2.0 * arriving * fixed_ + (1.0 - arriving * fixed_) / (1.0 + busy));
      const double second =
          1.5 * fixed_ / (1.0 - busy) + 0.5 * alpha_ * (busy + 2.0) / (1.0 - busy * busy);
      all = std::min(first, second);
    } else {
      all += 0.5 * alpha_ * busy / (1.0 - busy);
    }
    const double used = std::min(kMostBusy, arriving * (alpha_ + fixed_));
    const double shared = std::pow(used, std::sqrt(2.0 * (replicas_ + 1.0)) - 2.0) / replicas_;
    return service_ + std::max(0.0, all - alpha_ - fixed_) * shared * base::second;
  }
  Seconds service() const { return service_; }

  // The typical batch at this rate. In a cycle of length τ, each·τ prompts arrive and are served together:
  // τ = τ₀ + α·each·τ, so together = each·τ₀ / (1 − each·α).
  workloads::Batch iteration(double rate) const {
    const double each = rate / replicas_;
    const double together =
        std::clamp(each * fixed_ / std::max(1e-3, 1.0 - each * alpha_), 1.0, most_);
    const auto groups = std::clamp<std::int64_t>(std::llround(together), 1, groups_);
    return batch(std::clamp<std::int64_t>(std::llround(together / count(groups)), 1,
                                          static_cast<std::int64_t>(whole_)),
                 groups);
  }

  double iterations() const { return plan_.iterations; }

 private:
  workloads::Batch batch(std::int64_t prompts, std::int64_t groups) const {
    workloads::Batch batch;
    batch.prefill_sequences = prompts;
    batch.prefill_tokens = plan_.chunk;
    batch.cached_tokens = plan_.cached;
    batch.groups = groups;
    return batch;
  }
  IterationCost cost(std::int64_t prompts, std::int64_t groups) const {
    return iteration_cost(s_, batch(prompts, groups), workspace_);
  }

  const ScenarioView& s_;
  Workspace& workspace_;
  PromptPlan plan_;
  double replicas_;
  std::int64_t groups_;
  double whole_ = 1.0;  // prompts of one iteration of a rank, at most
  double most_ = 1.0;   // K, prompts of one iteration of a replica, at most
  Seconds service_;     // time of a prompt that does not wait
  double alpha_ = 0.0;  // s, α
  double fixed_ = 0.0;  // s, τ₀
};

// The decode pool. b and t(b) are as in the header.
class DecodePool {
 public:
  DecodePool(const ScenarioView& s, double slots, Workspace& workspace)
      : s_(s),
        workspace_(workspace),
        iterations_(count(s.traffic->output_tokens - 1)),
        stages_(count(s.mapping->pipeline_parallel)),
        groups_(s.mapping->data_parallel),
        ranks_(count(s.serving->replicas * s.mapping->data_parallel)) {
    const workloads::SchedulerLimits& limits = s.serving->limits;
    most_ = std::min({count(s.traffic->concurrency) / ranks_, slots, count(limits.max_sequences),
                      count(limits.max_tokens_per_iteration)});
  }

  double most() const { return most_; }  // the largest b: sequences of a rank
  double ranks() const { return ranks_; }
  double iterations() const { return iterations_; }

  // Time between tokens with b sequences on a rank. Keeps the cost of the last batch.
  Seconds tpot(double b) {
    // If a replica has fewer sequences than ranks, some ranks are idle.
    const double replica = b * count(groups_);
    workloads::Batch batch;
    batch.groups = std::clamp<std::int64_t>(std::llround(replica), 1, groups_);
    const double each = replica / count(batch.groups);
    batch.decode_sequences = std::max<std::int64_t>(1, std::llround(each / stages_));
    batch.context = s_.traffic->input_tokens + s_.traffic->output_tokens / 2;
    if (!(batch == batch_)) {
      batch_ = batch;
      cost_ = iteration_cost(s_, batch, workspace_);
    }
    return base::max(cost_.latency, std::min(std::max(each, 1.0), stages_) * cost_.period);
  }
  // Requests per second that b sequences on every rank complete.
  double rate(double b) { return b * ranks_ / (iterations_ * tpot(b)).si(); }

  // Probability that a request finds sequences on its replica: their number is taken as Poisson, with mean b·g·others.
  double busy(double b, double others) const { return -std::expm1(-b * count(groups_) * others); }
  const IterationCost& cost() const { return cost_; }
  const workloads::Batch& batch() const { return batch_; }

 private:
  const ScenarioView& s_;
  Workspace& workspace_;
  double iterations_;  // O − 1, iterations of a request
  double stages_;
  std::int64_t groups_;
  double ranks_;  // attention-DP ranks of the pool
  double most_ = 0.0;
  workloads::Batch batch_;
  IterationCost cost_;
};

class Solver {
 public:
  Solver(const ScenarioView& s, const PoolScenarios& pools, double slots, Workspace& workspace)
      : s_(s),
        workspace_(workspace),
        pools_(pools),
        prefill_(pools.prefill(), workspace),
        decode_(pools.decode(), slots, workspace),
        clients_(count(s.traffic->concurrency)),
        others_((clients_ - 1.0) / clients_),
        request_(workloads::request_time(s.serving->stack, s.traffic->input_tokens)),
        transfer_(kv_transfer(s, count(s.traffic->input_tokens)).time),
        ports_(count(s.pools->prefill.replicas * s.pools->prefill.mapping.data_parallel)) {}

  SteadyState solve() {
    const double most = std::min(prefill_.capacity(), ports_ / transfer_.si());
    if (decode_.iterations() == 0.0) {
      const double rate = root(0.0, prefill_.capacity(), [&](double r) {
        return r * (request_ + prefill_.time(r, others_)).si();
      });
      return result(rate, 0.0, prefill_.capacity());
    }
    const double b = root(0.0, decode_.most(), [&](double guess) {
      const double rate = decode_.rate(guess);
      return rate >= most ? std::numeric_limits<double>::infinity()
                          : rate * outside(rate, guess).si() + guess * decode_.ranks();
    });
    return result(std::min(decode_.rate(b), most), b, most);
  }

 private:
  // The largest x in the range for which Little's law asks for at most the clients. `clients_of` rises with x.
  template <class Clients>
  double root(double low, double high, Clients clients_of) const {
    if (clients_of(high) <= clients_) {
      return high;
    }
    for (int i = 0; i < kBisections && high - low > kTolerance * high; ++i) {
      const double middle = 0.5 * (low + high);
      (clients_of(middle) > clients_ ? high : low) = middle;
    }
    return 0.5 * (low + high);
  }

  Seconds sending(double rate) const {
    const double busy = std::min(kMostBusy, others_ * rate * transfer_.si() / ports_);
    return transfer_ + 0.5 * busy / (1.0 - busy) * transfer_;
  }
  Seconds joining(double b) { return 0.5 * decode_.busy(b, others_) * decode_.tpot(b); }
  // The part of a client's cycle outside the decodes.
  Seconds outside(double rate, double b) {
    return request_ + prefill_.time(rate, others_) + sending(rate) + joining(b);
  }

  // The steady state. `most` is the rate that the prefill pool and the transfers bound.
  //
  //   cycle   s, from one request of a client to the next          left    s, of the cycle, by no formula
  //   first   s, from the prefill queue to the first token         slot    s, wait for a place on a decode rank
  //   wait    s, the part of `first` before the prompt's service   typical s, median of that wait
  SteadyState result(double rate, double b, double most) {
    const bool decodes = decode_.iterations() > 0.0;
    SteadyState r;
    r.tpot = decodes ? decode_.tpot(b) : Seconds{};
    const Seconds decoding = decode_.iterations() * r.tpot;
    const Seconds cycle = clients_ / rate * base::second;
    const Seconds send = decodes ? sending(rate) : Seconds{};
    const Seconds join = decodes ? joining(b) : Seconds{};
    Seconds first = prefill_.time(rate, others_);
    // Clients that are in no other place wait for the pool that is full.
    const Seconds left = base::max(Seconds{}, cycle - request_ - first - send - join - decoding);
    const bool prefill_full = rate > kMostBusy * most;
    const bool slots_full =
        decodes && !prefill_full && b >= decode_.most() * (1.0 - kTolerance) && left > 0.01 * cycle;
    first += prefill_full ? left : Seconds{};
    const Seconds slot = slots_full ? left : Seconds{};
    r.ttft_mean = request_ + first + send + slot + join;
    const Seconds wait = first - prefill_.service();
    const double busy = std::min(1.0, others_ * rate / prefill_.capacity());
    const bool often = busy > 0.5 && !prefill_full;
    const Seconds typical = often ? wait / busy * std::log(2.0 * busy) : Seconds{};
    r.ttft_p50 = prefill_full ? r.ttft_mean : r.ttft_mean - wait + typical;
    r.end_to_end = r.ttft_mean + decoding;
    r.requests_per_second = rate;
    r.decode_batch = b;
    r.running = b;
    r.decode_iteration = decode_.batch();
    r.prefill_iteration = prefill_.iteration(rate);
    const IterationCost iteration =
        iteration_cost(pools_.prefill(), r.prefill_iteration, workspace_);
    r.prefill_clock = iteration.clock;
    r.decode_clock = decodes ? decode_.cost().clock : iteration.clock;
    r.power = power(rate, b, iteration, r.prefill_iteration);
    r.prompt_share = count(s_.pools->prefill.ranks()) / count(s_.pools->ranks());
    const models::Uncertainty& u = s_.platform->machine.uncertainty;
    r.tpot_spread = decodes ? decode_.cost().spread(u) : models::Spread{};
    const models::Spread prompts = iteration.spread(u);
    const double served = first / r.ttft_mean;
    const double queued = slot / r.ttft_mean;
    r.ttft_spread = {served * prompts.below + queued * r.tpot_spread.below,
                     served * prompts.above + queued * r.tpot_spread.above};
    r.ttft_limit = longest({{wait, Limit::waiting},
                            {prefill_.service(), iteration.limit()},
                            {slot, Limit::slots},
                            {send, Limit::network},
                            {request_, Limit::host}});
    r.tpot_limit = decodes ? decode_.cost().limit() : iteration.limit();
    r.throughput_limit = slots_full                                   ? Limit::slots
                         : prefill_full && most < prefill_.capacity() ? Limit::network
                         : prefill_full                               ? iteration.limit()
                                                                      : r.tpot_limit;
    return r;
  }

  static Limit longest(std::initializer_list<std::pair<Seconds, Limit>> parts) {
    return std::max_element(parts.begin(), parts.end(),
                            [](const auto& a, const auto& b) { return a.first < b.first; })
        ->second;
  }

  // Mean power of one GPU.
  base::Watts power(double rate, double b, const IterationCost& iteration,
                    const workloads::Batch& prompts) {
    const models::PowerRates& rates = s_.platform->machine.power;
    const auto mean = [&](const workloads::Pool& pool, double iterations,
                          const IterationCost& cost) {
      const double stages = count(pool.mapping.pipeline_parallel);
      const base::Watts watts =
          rates.idle + iterations / stages * cost.energy_above_idle / base::second;
      return count(pool.ranks()) / count(s_.pools->ranks()) *
             (watts > rates.limit ? rates.limit : watts);
    };
    const double prompt_iterations =
        rate / ports_ * prefill_.iterations() / count(prompts.prefill_sequences);
    const double batch = count(std::max<std::int64_t>(1, decode_.batch().decode_sequences));
    const double decode_iterations =
        b > 0.0 ? rate / decode_.ranks() * decode_.iterations() / batch : 0.0;
    return mean(s_.pools->prefill, prompt_iterations, iteration) +
           mean(s_.pools->decode, decode_iterations, decode_.cost());
  }

  const ScenarioView& s_;
  Workspace& workspace_;
  const PoolScenarios& pools_;
  PrefillPool prefill_;
  DecodePool decode_;
  double clients_;
  double others_;     // (N−1)/N
  Seconds request_;   // R, before the scheduler has the request
  Seconds transfer_;  // of one KV cache, without a wait
  double ports_;      // that send KV caches
};

}  // namespace

ServingEstimate disaggregated_estimate(const ScenarioView& s, Workspace& workspace) {
  ServingEstimate e;
  e.provenance = s.platform->system.provenance();
  e.gpus = gpus_of(s);
  if (s.traffic->arrivals || s.traffic->agents || s.serving->speculation.drafts()) {
    e.infeasible = infeasible::TwoPools{};
    return e;
  }
  const PoolScenarios pools(s);
  workloads::Traffic prompts = *s.traffic;
  prompts.output_tokens = 1;
  ScenarioView prefill = pools.prefill();
  prefill.traffic = &prompts;
  Cache caches[2];
  models::Footprint footprints[2];
  std::size_t pool = 0;
  for (const ScenarioView* each : {&std::as_const(prefill), &pools.decode()}) {
    check_runnable(*each, e);
    if (e.fits()) {
      e.footprint = footprints[pool] = footprint_of(*each);
      caches[pool] = cache_of(*each);
      check_memory(caches[pool], e);
    }
    if (!e.fits()) {
      e.pool = pool == 0 ? PoolKind::prefill : PoolKind::decode;
      return e;
    }
    ++pool;
  }
  e.max_running = footprints[1].cache / caches[1].mean_request;
  e.steady = Solver(s, pools, std::max(1.0, std::floor(e.max_running)), workspace).solve();
  e.spreads = spreads_of(s, e.steady);
  // Memory of each pool: its fixed part and the KV caches in use. A prefill rank holds its prompts until their caches
  // are sent: Little's law with TTFT.
  const double prompts_held =
      e.steady.requests_per_second * (e.steady.ttft_mean / base::second) /
      count(s.pools->prefill.replicas * s.pools->prefill.mapping.data_parallel);
  const base::Bytes held = base::min(prompts_held * caches[0].full_request, footprints[0].cache);
  const base::Bytes memory[2] = {footprints[0].fixed() + held,
                                 footprints[1].fixed() + e.steady.running * caches[1].mean_request};
  e.footprint = footprints[footprints[0].weights > footprints[1].weights ? 0 : 1];
  e.memory = base::max(memory[0], memory[1]);
  return e;
}

}  // namespace roofcast::sim
