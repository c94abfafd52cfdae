// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/uniform_closed_loop.hpp"

#include <algorithm>
#include <cmath>

#include "sim/serving/iteration_mix.hpp"
#include "sim/serving/percentiles.hpp"
#include "sim/serving/prompt_chunks.hpp"

namespace roofcast::sim {
namespace {

using base::Seconds;

constexpr int kMaxIterations = 24;
constexpr int kGuesses = 3;
constexpr double kTolerance = 1e-3;  // relative to the batch
// The formula of the prefill queue is used up to this utilisation. Beyond it, prompts saturate.
constexpr double kMaxUtilisation = 0.98;

// Time between the tokens of a sequence. `in_flight` micro-batches follow each other through the stages.
Seconds interval(Seconds latency, Seconds period, double in_flight) {
  return base::max(latency, in_flight * period);
}

class Solver {
 public:
  Solver(const ScenarioView& s, double slots, Workspace& workspace) : s_(s), workspace_(workspace) {
    // If there are fewer clients than replicas or attention-DP groups, some of these are idle.
    const std::int64_t clients = s.traffic->concurrency;
    replicas_ = std::min(s.serving->replicas, clients);
    groups_ = std::min(s.mapping->data_parallel, clients / replicas_);
    clients_ = static_cast<double>(clients) / static_cast<double>(replicas_ * groups_);
    const workloads::SchedulerLimits& limits = s.serving->limits;
    query_ = s.serving->speculation.query_tokens();
    running_ = std::min(
        {clients_, slots, static_cast<double>(limits.max_sequences),
         static_cast<double>(std::max<std::int64_t>(1, limits.max_tokens_per_iteration / query_))});
    stages_ = static_cast<double>(s.mapping->pipeline_parallel);
    request_ = workloads::request_time(s.serving->stack, s.traffic->input_tokens);
    decodes_ = s.serving->speculation.steps(s.traffic->output_tokens - 1);
    s_.launches_ahead = true;
    plan_.chunk = 1;
    floor_ = launch_floor(s, batch(0, 1), workspace).latency;
  }

  SteadyState solve() {
    if (decodes_ == 0.0) {
      iteration(0.0);
      return result(0.0);
    }
    // If b is too large, Little's law asks for fewer, so the solution lies between `least` and `most`. The first
    // kGuesses rounds take the batch that Little's law asks for; later rounds take the middle.
    double least = 0.0;
    double most = running_;
    double b = running_;
    for (int i = 0; i < kMaxIterations; ++i) {
      const double wanted = iteration(b);
      if (std::abs(wanted - b) < kTolerance * b || most - least < kTolerance * b) {
        break;
      }
      (wanted > b ? least : most) = b;
      const bool inside = wanted > least && wanted < most;
      b = inside && i < kGuesses ? wanted : 0.5 * (least + most);
    }
    return result(b);
  }

 private:
  workloads::Batch batch(std::int64_t decodes, std::int64_t prompts) const {
    workloads::Batch batch;
    batch.decode_sequences = decodes;
    batch.query_tokens = decodes > 0 ? query_ : 1;
    batch.context = static_cast<std::int64_t>(workloads::mean_context(*s_.traffic));
    batch.prefill_sequences = prompts;
    batch.prefill_tokens = prompts > 0 ? plan_.chunk : 0;
    batch.cached_tokens = prompts > 0 ? plan_.cached : 0;
    batch.groups = groups_;
    return batch;
  }

  // Times a batch, unless it is the one timed before. The guesses of b soon differ by less than one sequence.
  void time(IterationCost& cost, workloads::Batch& timed, const workloads::Batch& wanted) {
    if (!(timed == wanted)) {
      timed = wanted;
      cost = iteration_cost(s_, wanted, workspace_);
    }
  }

  // Times the iterations of a decode batch b. Returns the batch that Little's law then asks for.
  //
  //   name             symbol of the header          name                   meaning
  //   running_         n                             clients_               C, of one attention-DP group
  //   decodes_         O−1                           micro                  b/stages, rounded: decodes of a micro-batch
  //   rate             r, at most k/c                decodes                of these, how many run with a prompt
  //   together         q                             others                 (n−1)/n
  //   plan_            k, c and the chunk            residual_              s, rest of the iteration in progress
  //   share_           f                             queue_                 s, (c/k)·ρ/(2(1−ρ)) iterations
  //   prefill_interference_   g                      prefill_               s, c iterations, or their launches
  //   busy_            ρ                             outside                s, request overhead; 0 if clients queue
  double iteration(double b) {
    const auto micro =
        static_cast<std::int64_t>(decodes_ > 0.0 ? std::max(1.0, std::round(b / stages_)) : 0.0);
    const std::int64_t decodes = running_ > 1.0 ? micro : 0;
    plan_ = plan_of(s_, decodes * query_);
    const double wanted = decodes_ > 0.0 ? b / stages_ / decodes_ : running_ / stages_;
    const double rate = std::min(wanted, plan_.capacity());
    const double together = std::clamp(std::ceil(rate * plan_.iterations - 1e-9), 1.0, plan_.whole);
    share_ = decodes_ > 0.0 ? std::min(1.0, rate * plan_.iterations / together) : 1.0;
    time(mixed_, mixed_batch_, batch(decodes, static_cast<std::int64_t>(together)));
    if (micro > 0) {
      time(decode_, decode_batch_, batch(micro, 0));
    } else {
      decode_ = mixed_;
    }
    // A request meets the prompts of the others, never its own. A request that arrives finds the others only.
    const double others = (running_ - 1.0) / running_;
    prefill_interference_ = share_ * others;
    const auto length_biased = [&](Seconds decode, Seconds mixed) {
      return (1.0 - prefill_interference_) * decode + prefill_interference_ * mixed;
    };
    tpot_ = decodes_ > 0.0 ? interval(length_biased(decode_.latency, mixed_.latency),
                                      length_biased(decode_.period, mixed_.period),
                                      std::min(std::max(b, 1.0), stages_))
                           : Seconds{};
    prefill_ = base::max(mixed_.latency + (plan_.iterations - 1.0) * mixed_.period,
                         plan_.iterations * floor_);
    const double utilisation =
        decodes_ > 0.0 ? std::min(others * rate / plan_.capacity(), kMaxUtilisation) : 0.0;
    busy_ = utilisation;
    const double queue =
        std::min(utilisation / (2.0 * (1.0 - utilisation)), running_) / plan_.capacity();
    queue_ = queue * mixed_.period;
    // Arrivals fall into long iterations more often, so the rest is E[t²] / 2E[t]. Without decodes, all clients return
    // together and fill the next iteration.
    const auto square = [](Seconds period) { return period.si() * period.si(); };
    const double first_moment = (1.0 - share_) * decode_.period.si() + share_ * mixed_.period.si();
    const double second_moment =
        (1.0 - share_) * square(decode_.period) + share_ * square(mixed_.period);
    residual_ =
        decodes_ > 0.0 ? Seconds::from_si(0.5 * others * second_moment / first_moment) : Seconds{};
    if (decodes_ == 0.0) {
      return 0.0;
    }
    const Seconds decoding = decodes_ * tpot_;
    const Seconds outside = clients_ > running_ ? Seconds{} : request_;
    const double little =
        running_ * (decoding / (outside + decoding + residual_ + queue_ + prefill_));
    return std::max(std::min(little, plan_.capacity() * decodes_ * stages_), 1e-9);
  }

  // The steady state with b decodes.
  //
  //   first      s, from the scheduler's queue to the first token, without the wait for a slot
  //   capacity   1/s, requests that iterations can start if there is always one waiting
  //   rate       1/s, requests of one group
  //   inside     requests that have a slot when prompts saturate
  //   slot       s, wait for a slot: what Little's law for all clients leaves
  //   typical_queue   s, median of an exponential wait that exists with probability busy_
  SteadyState result(double b) const {
    const Seconds decoding = decodes_ * tpot_;
    SteadyState r;
    Seconds first = residual_ + queue_ + prefill_;
    const auto together = static_cast<double>(mixed_batch_.prefill_sequences);
    const double prompts = decodes_ > 0.0 ? std::min(together, plan_.whole) : plan_.whole;
    const double capacity = prompts / plan_.iterations / (mixed_.period / base::second);
    // Little's law twice: for the slots, and for all clients. Clients spend the request overhead outside the slots.
    const auto per_second = [](double requests, Seconds stay) {
      return requests / (stay / base::second);
    };
    double rate = std::min(per_second(running_, first + decoding),
                           per_second(clients_, request_ + first + decoding));
    const bool saturated = rate > capacity;
    if (saturated) {
      rate = capacity;
      const double inside = std::min(running_, clients_ - rate * (request_ / base::second));
      first = base::max(first, inside / rate * base::second - decoding);
    }
    const Seconds slot =
        base::max(Seconds{}, clients_ / rate * base::second - request_ - first - decoding);
    r.ttft_mean = request_ + slot + first;
    const bool often = busy_ > 0.5 && !saturated;
    const Seconds typical_queue = often ? queue_ / busy_ * std::log(2.0 * busy_) : Seconds{};
    r.ttft_p50 = saturated ? r.ttft_mean : r.ttft_mean - queue_ + typical_queue;
    r.tokens_per_iteration = decodes_ > 0.0 ? s_.serving->speculation.tokens_per_iteration() : 1.0;
    r.tpot =
        decodes_ > 0.0 ? decoding / static_cast<double>(s_.traffic->output_tokens - 1) : Seconds{};
    tails(r, saturated);
    r.end_to_end = r.ttft_mean + decoding;
    r.requests_per_second = rate * static_cast<double>(replicas_ * groups_);
    r.decode_batch = decodes_ > 0.0 ? b : 0.0;
    r.running = running_;
    r.prefill_share = share_;
    r.power = power(rate, b);
    r.prompt_share = prompt_share(rate, b);
    r.decode_clock = decode_.clock;
    r.prefill_clock = mixed_.clock;
    spreads(r, slot, first);
    limits(r, slot, first - prefill_);
    r.decode_iteration = decode_batch_;
    r.prefill_iteration = mixed_batch_;
    return r;
  }

  // Percentiles from variances. Within the decodes of a request, iterations with prompts are taken as independent. The
  // wait for the first token has a part of an iteration, evenly distributed, and a wait for earlier prompts,
  // exponential if there are any.
  //
  //   prompt      s², variance of the prefill by the lengths of the prompts
  //   queue       s², variance of the wait for earlier prompts
  //   iterations  s², variance of the time of one of the request's decodes
  //   a_token     iterations per output token
  void tails(SteadyState& r, bool saturated) const {
    const auto square = [](Seconds time) { return time.si() * time.si(); };
    const workloads::Traffic& t = *s_.traffic;
    const double prompt = workloads::squared_variation(t.input) * square(prefill_);
    const double queue = saturated || busy_ == 0.0 ? 0.0 : square(queue_) * (2.0 / busy_ - 1.0);
    r.ttft_tail = tail_of(r.ttft_mean, prompt + square(residual_) / 3.0 + queue, request_);
    if (decodes_ > 0.0) {
      const double iterations = prefill_interference_ * (1.0 - prefill_interference_) *
                                square(mixed_.latency - decode_.latency);
      const Tail tail = tail_of(tpot_, iterations / decodes_, decode_.latency);
      const double a_token = r.tpot / tpot_;  // iterations per output token
      r.tpot_tail = {a_token * tail.p95, a_token * tail.p99};
    }
  }

  // Iterations per second with prompts, while a group completes `rate` requests per second.
  double mixed_iterations(double rate) const {
    // Prompts of an iteration that carries some.
    const double prompts =
        static_cast<double>(std::max<std::int64_t>(1, mixed_batch_.prefill_sequences));
    return rate * plan_.iterations / prompts;
  }
  // Iterations per second with decodes, with prompts or without.
  double decode_iterations(double rate, double b) const {
    return rate * decodes_ / std::max(1.0, b / stages_);
  }

  // Mean power of one GPU.
  base::Watts power(double rate, double b) const {
    const double mixed = mixed_iterations(rate);
    return mix().power(std::max(0.0, decode_iterations(rate, b) - mixed), mixed, stages_,
                       s_.platform->machine.power);
  }

  double prompt_share(double rate, double b) const {
    const double mixed = mixed_iterations(rate);
    const bool with_decodes = mixed_batch_.decode_sequences > 0;
    const double decodes = decode_iterations(rate, b) - (with_decodes ? mixed : 0.0);
    return mix().prompt_share(std::max(0.0, decodes), mixed, with_decodes);
  }

  void spreads(SteadyState& r, Seconds slot, Seconds first) const {
    const models::Uncertainty& u = s_.platform->machine.uncertainty;
    r.tpot_spread = mix().tpot_spread(prefill_interference_, u);
    r.ttft_spread = mix().ttft_spread(first / r.ttft_mean, slot / r.ttft_mean, r.tpot_spread, u);
  }

  IterationMix mix() const { return {decode_, mixed_}; }

  void limits(SteadyState& r, Seconds slot, Seconds wait) const {
    const bool launches = prefill_ > mixed_.latency + (plan_.iterations - 1.0) * mixed_.period;
    r.ttft_limit = launches ? Limit::host : mixed_.limit();
    if (slot > base::max(wait, prefill_)) {
      r.ttft_limit = Limit::slots;
    } else if (wait > prefill_) {
      r.ttft_limit = Limit::waiting;
    } else if (request_ > prefill_) {
      r.ttft_limit = Limit::host;
    }
    r.tpot_limit = mix().limit(share_);
    r.throughput_limit = clients_ > running_ ? Limit::slots : r.tpot_limit;
  }

  ScenarioView s_;
  Workspace& workspace_;
  std::int64_t replicas_ = 1;  // replicas with clients
  std::int64_t groups_ = 1;    // attention-DP groups with clients, of each replica
  double clients_ = 0;         // clients of one group
  double running_ = 0;         // requests of one group with a slot
  double stages_ = 1;
  double decodes_ = 0;      // decode iterations of a request
  std::int64_t query_ = 1;  // tokens that a decode iteration verifies per sequence
  Seconds request_;         // request overhead, before the scheduler has the request
  PromptPlan plan_;
  double share_ = 0;                 // share of iterations with prompts
  double prefill_interference_ = 0;  // share of a request's decodes that meet prompts of others
  double busy_ = 0;                  // utilisation of the prefill capacity
  workloads::Batch decode_batch_;
  workloads::Batch mixed_batch_;
  IterationCost decode_;
  IterationCost mixed_;
  // Time between the iterations of a request; without speculative decoding, between its tokens.
  Seconds tpot_;
  Seconds prefill_;
  Seconds queue_;     // wait for earlier prompts
  Seconds floor_;     // least time of an iteration with the request's own prompt, by its launches
  Seconds residual_;  // rest of the iteration in progress
};

}  // namespace

SteadyState uniform_closed_loop(const ScenarioView& scenario, double slots, Workspace& workspace) {
  return Solver(scenario, slots, workspace).solve();
}

}  // namespace roofcast::sim
