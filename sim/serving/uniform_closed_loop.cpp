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
constexpr double kTolerance = 1e-3;  // of the batch
constexpr double kMaxUtilisation =
    0.98;  // of the prefill queue's formula; beyond it prompts saturate

// Time between a sequence's tokens when micro-batches follow each other through the stages.
Seconds interval(Seconds latency, Seconds period, double in_flight) {
  return base::max(latency, in_flight * period);
}

class Solver {
 public:
  Solver(const ScenarioView& s, double slots, Workspace& workspace) : s_(s), workspace_(workspace) {
    // Fewer clients than replicas or attention-DP groups leave some idle.
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
    // Little's law asks for fewer than b where b is too many, so the batch lies between; its guess
    // is taken while that closes in, the middle afterwards.
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

  // Times a batch unless it is the one timed before: guesses of b soon differ by less than a sequence.
  void time(IterationCost& cost, workloads::Batch& timed, const workloads::Batch& wanted) {
    if (!(timed == wanted)) {
      timed = wanted;
      cost = iteration_cost(s_, wanted, workspace_);
    }
  }

  // Times the passes of a decode batch b and returns the batch that Little's law then asks for.
  double iteration(double b) {
    const auto micro =
        static_cast<std::int64_t>(decodes_ > 0.0 ? std::max(1.0, std::round(b / stages_)) : 0.0);
    const std::int64_t beside = running_ > 1.0 ? micro : 0;  // of a prompt: others' decodes
    plan_ = plan_of(s_, beside * query_);
    const double wanted = decodes_ > 0.0 ? b / stages_ / decodes_ : running_ / stages_;
    const double rate = std::min(wanted, plan_.capacity());
    const double together = std::clamp(std::ceil(rate * plan_.iterations - 1e-9), 1.0, plan_.whole);
    share_ = decodes_ > 0.0 ? std::min(1.0, rate * plan_.iterations / together) : 1.0;
    time(mixed_, mixed_batch_, batch(beside, static_cast<std::int64_t>(together)));
    if (micro > 0) {
      time(decode_, decode_batch_, batch(micro, 0));
    } else {
      decode_ = mixed_;
    }
    // A request meets the prompts of the others, never its own; who arrives sees the others only.
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
    // An arrival falls into long passes more often: E[p²] / 2E[p]. Without decodes all clients return
    // together and fill the next pass.
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

  SteadyState result(double b) const {
    const Seconds decoding = decodes_ * tpot_;
    SteadyState r;
    Seconds first = residual_ + queue_ + prefill_;
    // Requests per second that passes can start, whatever waits for them.
    const auto together = static_cast<double>(mixed_batch_.prefill_sequences);
    const double prompts = decodes_ > 0.0 ? std::min(together, plan_.whole) : plan_.whole;
    const double capacity = prompts / plan_.iterations / (mixed_.period / base::second);
    // Little's law twice: for the slots, and for all clients, who pass the request overhead outside them.
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

  // Within a request's decodes passes with others' prompts are independent; its first token waits for a part
  // of a pass, evenly, and for prompts ahead, exponentially where there are some.
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
      const double a_token = r.tpot / tpot_;  // passes that one takes
      r.tpot_tail = {a_token * tail.p95, a_token * tail.p99};
    }
  }

  // Passes a second while a group completes `rate` requests a second.
  double mixed_iterations(double rate) const {
    const double prompts = static_cast<double>(
        std::max<std::int64_t>(1, mixed_batch_.prefill_sequences));  // of a pass that carries some
    return rate * plan_.iterations / prompts;
  }
  double decode_iterations(double rate, double b) const {  // with prompts or without
    return rate * decodes_ / std::max(1.0, b / stages_);
  }

  // Mean of one GPU.
  base::Watts power(double rate, double b) const {
    const double mixed = mixed_iterations(rate);
    return mix().power(std::max(0.0, decode_iterations(rate, b) - mixed), mixed, stages_,
                       s_.platform->machine.power);
  }

  double prompt_share(double rate, double b) const {
    const double mixed = mixed_iterations(rate);
    const bool beside = mixed_batch_.decode_sequences > 0;
    const double decodes = decode_iterations(rate, b) - (beside ? mixed : 0.0);
    return mix().prompt_share(std::max(0.0, decodes), mixed, beside);
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
  std::int64_t replicas_ = 1;  // with clients
  std::int64_t groups_ = 1;    // attention-DP groups of each with clients
  double clients_ = 0;         // of one group
  double running_ = 0;
  double stages_ = 1;
  double decodes_ = 0;      // decode iterations of a request
  std::int64_t query_ = 1;  // tokens that each of them verifies
  Seconds request_;         // before the scheduler sees it
  PromptPlan plan_;
  double share_ = 0;                 // of passes with prompts
  double prefill_interference_ = 0;  // of the passes of a request's decodes: with others' prompts
  double busy_ = 0;                  // utilisation of the prefill capacity
  workloads::Batch decode_batch_;
  workloads::Batch mixed_batch_;
  IterationCost decode_;
  IterationCost mixed_;
  Seconds tpot_;  // between iterations of a request: of a token, without speculation
  Seconds prefill_;
  Seconds queue_;
  Seconds floor_;  // of a pass with the request's own prompt
  Seconds residual_;
};

}  // namespace

SteadyState uniform_closed_loop(const ScenarioView& scenario, double slots, Workspace& workspace) {
  return Solver(scenario, slots, workspace).solve();
}

}  // namespace roofcast::sim
