// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/random_traffic.hpp"

#include <algorithm>
#include <cmath>

#include "sim/serving/iteration_mix.hpp"
#include "sim/serving/percentiles.hpp"
#include "workloads/traffic/length_cells.hpp"

namespace roofcast::sim {
namespace {

using base::Seconds;

constexpr int kBisections = 40;

double square(double x) { return x * x; }

// Sequences of one replica that fit at once. If a stack reserves blocks for an answer, others cannot use them: `held`
// tokens are the mean of a running request, `promised` tokens are its reservation. The factor 1 + scv is the length
// bias: long answers run longer.
double slots_of(const ScenarioView& s, double slots) {
  const workloads::Traffic& t = *s.traffic;
  if (s.serving->policy.reserves == workloads::Reservation::request) {
    const double blocking = workloads::mean_context(t);
    const double promised =
        static_cast<double>(t.input_tokens) + s.serving->policy.reserved_output *
                                                  static_cast<double>(t.output_tokens) *
                                                  (1.0 + workloads::squared_variation(t.output));
    slots = std::max(1.0, slots * blocking / std::max(blocking, promised));
  }
  const workloads::SchedulerLimits& limits = s.serving->limits;
  return static_cast<double>(s.mapping->data_parallel) *
         std::min(
             {slots, static_cast<double>(limits.max_sequences),
              static_cast<double>(std::max<std::int64_t>(
                  1, limits.max_tokens_per_iteration / s.serving->speculation.query_tokens()))});
}

}  // namespace

RandomTraffic::RandomTraffic(const ScenarioView& s, double slots,
                             const workloads::Burstiness& bursts, Workspace& workspace)
    : s_(s),
      workspace_(workspace),
      costs_(s, workspace),
      cycles_(s, costs_, bursts),
      replicas_(static_cast<double>(s.serving->replicas)),
      ranks_(static_cast<double>(s.mapping->data_parallel)),
      stages_(static_cast<double>(s.mapping->pipeline_parallel)),
      slots_(slots_of(s, slots)),
      decodes_(s.serving->speculation.steps(s.traffic->output_tokens - 1)),
      input_scv_(workloads::squared_variation(s.traffic->input)),
      output_scv_(workloads::squared_variation(s.traffic->output)) {}

Seconds RandomTraffic::intake_time() const {
  return workloads::intake_time(s_.serving->stack, static_cast<double>(s_.traffic->input_tokens));
}

double RandomTraffic::message_time() const {
  return s_.serving->stack.message_overhead.si() /
         static_cast<double>(s_.serving->policy.stream_interval);
}

Seconds RandomTraffic::front_end_time() const {
  return intake_time() +
         Seconds::from_si(static_cast<double>(s_.traffic->output_tokens) * message_time());
}

FrontEndLoad RandomTraffic::front_end_load(double rate, double present) const {
  const Seconds intake = intake_time();
  const double tokenising = (intake - s_.serving->stack.intake_overhead).si();
  return {.rate = rate * replicas_,
          .intake = intake.si(),
          .intake_square = square(intake.si()) + input_scv_ * square(tokenising),
          .messages = rate * replicas_ * (front_end_time() - intake).si(),
          .burst = present * s_.serving->speculation.tokens_per_iteration() * message_time()};
}

double RandomTraffic::shown(const FrontEndLoad& front_end) const {
  const double decodes = costs_.prompts_first() ? 0.0 : front_end.burst;
  return front_end.delay(decodes + message_time());
}

// Bisection of `serves`, up to a ceiling: prompts one after the other, or the front end.
double RandomTraffic::saturation() {
  const double full = decodes_ > 0.0 ? micro(slots_) : 0.0;
  const PromptTimes p = costs_.prompts(full);
  double least = 0.0;
  double most = 1.0 / (p.extra * costs_.prompt_group(full).last_slope() + 1e-12);
  const double front = front_end_time().si() * replicas_;
  if (front > 0.0) {
    most = std::min(most, 1.0 / front);
  }
  const double ceiling = most;
  for (int i = 0; i < kBisections; ++i) {
    const double rate = 0.5 * (least + most);
    (serves(rate, p) ? least : most) = rate;
  }
  return least > 0.999 * ceiling ? ceiling : least;
}

// Whether a replica can complete `rate` requests per second with all slots taken.
//
//   decoding   slots in which sequences decode: all less those of prompts      tokens   prompt tokens of an iteration
//   budget     tokens of an iteration that decodes leave to prompts
bool RandomTraffic::serves(double rate, const PromptTimes& p) {
  if (decodes_ == 0.0) {
    return true;
  }
  const MeanIteration iteration = cycles_.at(slots_, rate, p);
  // A prompt holds a slot from its first iteration on.
  const double decoding = slots_ - rate * p.own;
  if (decoding <= 0.0) {
    return false;
  }
  const double tokens = rate * iteration.mean / ranks_ *
                        static_cast<double>(s_.traffic->input_tokens - s_.traffic->cached_tokens);
  const double budget = static_cast<double>(s_.serving->limits.max_tokens_per_iteration) -
                        (costs_.prompts_first() ? 0.0 : micro(slots_));
  if (!costs_.prompts_first() && tokens > budget) {
    return false;
  }
  return rate * (decodes_ * iteration.interval + iteration.prefill_interference) <= decoding;
}

// With D decodes, a prompt waits if its length is among the last D tokens of the budget. It lacks between 0 and D
// tokens, evenly distributed, so it waits for the rest of a stay in the batch. Requests that arrive in that time wait
// for what is left of it. In a closed loop fewer and fewer clients are left to arrive, so they count half.
//
//   symbol     meaning                                                                     unit
//   rows       D, tokens of the decodes of a rank                                          tokens
//   up_to      share of prompts of at most so many new tokens                              –
//   chance     probability that a prompt does not fit                                      –
//   decoding   E[S], mean stay of a decode in the batch                                    s
//   second     E[S²]/E[S]², third  E[S³]/E[S]³                                             –
//   rest       E[S²]/2E[S], mean rest of a stay; its mean square is E[S³]/3E[S]            s
//   behind     wait of those that arrive during the rest: λ·E[S³]/6E[S]                    s
RandomTraffic::Blocking RandomTraffic::blocking(double rate, double present, double decoding,
                                                bool clients) const {
  const workloads::Traffic& t = *s_.traffic;
  const std::int64_t budget = s_.serving->limits.max_tokens_per_iteration;
  const double rows =
      present / ranks_ * static_cast<double>(s_.serving->speculation.query_tokens());
  if (s_.serving->policy.chunked_prompts || costs_.prompts_first() || rows < 1.0) {
    return {};
  }
  const auto up_to = [&](std::int64_t tokens) {
    if (t.input.shape == workloads::Lengths::Shape::fixed) {
      return t.input_tokens <= tokens + t.cached_tokens ? 1.0 : 0.0;
    }
    return workloads::share_up_to(t.input, tokens + t.cached_tokens);
  };
  const double chance = up_to(budget) - up_to(budget - std::llround(rows));
  double second = 1.0;
  double third = 1.0;
  if (t.output.shape != workloads::Lengths::Shape::fixed) {
    third = 0.0;
    second = 1.0 + output_scv_;
    for (const workloads::WeightedLength& cell : workloads::cells_of(t.output)) {
      const double times = cell.tokens / static_cast<double>(t.output_tokens);
      third += cell.weight * times * times * times;
    }
  }
  const double rest = 0.5 * second * decoding;
  const double behind = rate / ranks_ * third / 6.0 * decoding * decoding;
  return {chance * (rest + (clients ? 0.5 : 1.0) * behind),
          std::min(1.0, chance * (1.0 + rate / ranks_ * rest))};
}

// Means and percentiles. `variance` is that of TTFT: tokenising, the engine, and two waits. A wait that happens with
// probability w and is then exponential has the variance wait²·(2/w − 1).
void RandomTraffic::report(const Solution& found, SteadyState& r) {
  const workloads::Stack& stack = s_.serving->stack;
  const Seconds intake = intake_time();
  const double tokenising = (intake - stack.intake_overhead).si();
  double variance = input_scv_ * square(tokenising) + found.first_variance;
  const auto add_wait = [&](double wait, double probability) {
    if (probability > 0.0) {
      variance += square(wait) * (2.0 / probability - 1.0);
    }
  };
  add_wait(found.front_wait, found.front_waits);
  add_wait(found.slot, found.slot_waits);
  r.ttft_mean = stack.request_overhead + intake +
                Seconds::from_si(found.front_wait + found.slot + found.first + found.shown);
  r.ttft_p50 = percentile(r.ttft_mean, variance, stack.request_overhead, 0.0);
  r.ttft_tail = tail_of(r.ttft_mean, variance, stack.request_overhead);
  r.tokens_per_iteration = 1.0;
  if (decodes_ > 0.0) {
    // The number of decodes changes as slowly as requests come and go. If its correlation is e^(−s/τ), with τ the stay
    // of a request, then its mean over a stay has 2/e of its variance.
    const PromptTimes p = costs_.prompts(micro(found.present));
    const double prefill_interference =
        found.rate * found.tpot * p.extra_square * cycles_.inverse_decodes();
    const Tail tail = tail_of(Seconds::from_si(found.tpot),
                              2.0 / std::exp(1.0) * found.interval_variance + prefill_interference,
                              costs_.decode(micro(1.0)).latency);
    // From times of an iteration to times of a token.
    const double a_token = decodes_ / static_cast<double>(s_.traffic->output_tokens - 1);
    r.tokens_per_iteration = s_.serving->speculation.tokens_per_iteration();
    r.tpot = Seconds::from_si(a_token * found.tpot);
    r.tpot_tail = {a_token * tail.p95, a_token * tail.p99};
  }
  r.requests_per_second = found.rate * replicas_;
  r.decode_batch = found.present / ranks_;
  r.running = (found.present + found.rate * found.first) / ranks_;
  report_iterations(found, r);
}

// The iterations behind the numbers: power, 90 % intervals, bounds.
//
//   mixed       an iteration with one prompt                   mixed_rate   1/s, iterations with prompts of a rank
//   decode      an iteration without prompts                   all_rate     1/s, iterations of a rank
//   with        share of iterations with prompts               own          s, of a prompt without waits
void RandomTraffic::report_iterations(const Solution& found, SteadyState& r) {
  const auto d = static_cast<std::int64_t>(std::llround(std::max(1.0, micro(found.present))));
  r.decode_iteration = costs_.decode_batch(decodes_ > 0.0 ? d : 0);
  r.prefill_iteration = costs_.prompt_batch(d, 1);
  const IterationCost mixed = iteration_cost(s_, r.prefill_iteration, workspace_);
  const IterationCost decode =
      decodes_ > 0.0 ? iteration_cost(s_, r.decode_iteration, workspace_) : mixed;
  const PromptTimes p = costs_.prompts(micro(found.present));
  const MeanIteration iteration = cycles_.at(std::max(1.0, found.present), found.rate, p);
  const double with =
      decodes_ > 0.0 ? std::min(1.0, found.rate * iteration.mean * p.iterations) : 1.0;
  r.prefill_share = with;
  r.decode_clock = decode.clock;
  r.prefill_clock = mixed.clock;
  const IterationMix mix{decode, mixed};
  const double mixed_rate = found.rate / ranks_ * p.iterations;
  const double all_rate = found.rate / ranks_ * decodes_ / std::max(1.0, micro(found.present));
  r.power = mix.power(std::max(0.0, all_rate - mixed_rate), mixed_rate, stages_,
                      s_.platform->machine.power);
  r.prompt_share =
      mix.prompt_share(std::max(0.0, all_rate - mixed_rate), mixed_rate, decodes_ > 0.0);
  const models::Uncertainty& u = s_.platform->machine.uncertainty;
  r.tpot_spread = mix.tpot_spread(with, u);
  r.ttft_spread = mix.ttft_spread(found.first / r.ttft_mean.si(), found.slot / r.ttft_mean.si(),
                                  r.tpot_spread, u);
  r.ttft_limit = mixed.limit();
  const double own = p.own;
  if (found.slot > std::max(found.first - own, own)) {
    r.ttft_limit = Limit::slots;
  } else if (found.first - own > own) {
    r.ttft_limit = Limit::waiting;
  } else if (r.ttft_mean.si() - found.slot - found.first > own) {
    r.ttft_limit = Limit::host;
  }
  r.tpot_limit = mix.limit(with);
}

}  // namespace roofcast::sim
