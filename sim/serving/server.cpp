// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/server.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/serving/client_batches.hpp"
#include "sim/serving/iteration_mix.hpp"
#include "sim/serving/saturation.hpp"
#include "workloads/traffic/length_cells.hpp"

namespace roofcast::sim {
namespace {

using base::Hertz;
using base::Seconds;
using base::square;
using base::SquareSeconds;
namespace queueing = base::queueing;

constexpr double kMostLoad = 0.98;  // of prompts alone, with a steady state
constexpr double kUsualUnits = 12.0;
// Clusters outlast an iteration. Those that meet in the queue come within the time of so many prompts.
constexpr double kClusterPrompts = 2.0;

// Share of the variance of a slowly changing quantity that its mean over a time x keeps. Its correlation fades as e^(−t),
// with times relative to the stay of a request.
double kept(double x) { return x < 1e-3 ? 1.0 : 2.0 * (x - 1.0 + std::exp(-x)) / (x * x); }

// A prompt that is not cut begins only where the decodes leave it room: so many sequences run, with it.
double beside_whole_prompt(const ScenarioView& s) {
  const workloads::Traffic& t = *s.traffic;
  const workloads::SchedulerPolicy& policy = s.serving->policy;
  const std::int64_t room =
      s.serving->limits.max_tokens_per_iteration - (t.input_tokens - t.cached_tokens);
  if (policy.chunked_prompts || policy.order == workloads::ScheduleOrder::prompts_first ||
      room < 0 || squared_variation(t.input) > 0.0) {
    return std::numeric_limits<double>::infinity();
  }
  return static_cast<double>(room / s.serving->speculation.query_tokens() + 1);
}

// Of a prompt that shares no batch.
Seconds time_alone(const PromptIterations& prompts) {
  const std::size_t k = prompts.times.size() - 1;
  const double batches = prompts.units / static_cast<double>(k);
  return batches > 1.0
             ? batches * prompts.times[k]
             : prompts.times[static_cast<std::size_t>(std::ceil(std::max(prompts.units, 1.0)))];
}

}  // namespace

double held_tokens(const ScenarioView& s) {
  const workloads::Traffic& t = *s.traffic;
  const double f = s.serving->policy.reserves == workloads::Reservation::request
                       ? std::min(1.0, s.serving->policy.reserved_output)
                       : 0.0;
  return static_cast<double>(t.input_tokens) + 0.5 * (1.0 + f * f) *
                                                   static_cast<double>(t.output_tokens) *
                                                   (1.0 + workloads::squared_variation(t.output));
}

Server::Server(const ScenarioView& s, double slots, Workspace& workspace)
    : s_(s),
      workspace_(workspace),
      costs_(s, workspace),
      replicas_(static_cast<double>(s.serving->replicas)),
      front_share_(1.0 / static_cast<double>(s.serving->front_ends_of(*s.mapping))),
      ranks_(static_cast<double>(s.mapping->data_parallel)),
      stages_(static_cast<double>(s.mapping->pipeline_parallel)),
      decodes_(s.serving->speculation.iterations(s.traffic->output_tokens - 1)) {
  const workloads::SchedulerLimits& limits = s.serving->limits;
  // A micro-batch runs no more than its iterations hold.
  const double iteration =
      std::min(static_cast<double>(std::max<std::int64_t>(
                   1, limits.max_tokens_per_iteration / s.serving->speculation.query_tokens())),
               beside_whole_prompt(s));
  slots_ =
      ranks_ * std::min({slots, static_cast<double>(limits.max_sequences), stages_ * iteration});
  if (const auto clients = static_cast<double>(s.traffic->concurrency); clients > 0.0) {
    replicas_ = std::min(replicas_, clients);
    clients_ = clients / replicas_;
    running_ = std::min(clients_, slots_);
  }
  double all = 0.0;
  const auto add = [&](double tokens, double weight) {
    if (const double decodes = s.serving->speculation.iterations(std::llround(tokens) - 1);
        decodes > 0.0) {
      answers_.push_back({decodes, weight});
      all += weight;
    }
  };
  if (s.traffic->output.shape == workloads::Lengths::Shape::fixed) {
    add(static_cast<double>(s.traffic->output_tokens), 1.0);
  } else {
    for (const workloads::WeightedLength& cell : workloads::cells_of(s.traffic->output)) {
      add(cell.tokens, cell.weight);
    }
  }
  for (Answer& answer : answers_) {
    answer.weight /= all;
  }
}

Seconds Server::interference(const ServerState& state, double decodes) {
  const double last = static_cast<double>(state.interference.size());
  return state.interference[static_cast<std::size_t>(std::clamp(decodes, 1.0, last)) - 1];
}

Seconds Server::interference(const ServerState& state) const {
  Seconds sum;
  for (const Answer& answer : answers_) {
    sum += answer.weight * interference(state, answer.decodes);
  }
  return sum;
}

double Server::micro(double decodes) const {
  return decodes <= 0.0 ? 0.0 : std::max(1.0, decodes / (ranks_ * stages_));
}

Seconds Server::intake() const {
  return workloads::intake_time(s_.serving->stack, static_cast<double>(s_.traffic->input_tokens));
}

Seconds Server::message_time() const {
  return s_.serving->stack.message_overhead /
         static_cast<double>(s_.serving->policy.stream_interval);
}

Seconds Server::messages() const {
  return static_cast<double>(s_.traffic->output_tokens) * message_time();
}

FrontEndLoad Server::front_end(Hertz rate, double present) const {
  const Seconds tokenising = intake() - s_.serving->stack.intake_overhead;
  return {.rate = rate * front_share_,
          .intake = intake(),
          .intake_square = square(intake()) +
                           workloads::squared_variation(s_.traffic->input) * square(tokenising),
          .messages = rate * front_share_ * messages(),
          .burst = front_share_ * present * s_.serving->speculation.tokens_per_iteration() *
                   message_time()};
}

// Prompts of an iteration if as many arrive in each as it has: a(T(s)) = s.
double Server::usual_prompts(const PromptIterations& prompts, const Load& load) {
  if (load.closed) {
    return load.per_iteration;
  }
  double usual = load.rate * base::second;
  const double k = static_cast<double>(prompts.times.size() - 1);
  for (int i = 0; i < 6; ++i) {
    const double units = std::min(k, usual * prompts.units);
    usual = load.rate * prompts.times[static_cast<std::size_t>(std::ceil(units))];
  }
  return usual;
}

// The chain of iterations with D decodes.
//
//   together   prompts of an iteration, a first guess          period   s, from one decode of a sequence to the next,
//   alone      s, iteration without prompts                             over that of an iteration: micro-batches in flight
ServerState Server::state(double decodes, const Load& load, Detail detail) {
  const double d = decodes_ > 0.0 ? micro(decodes) : 0.0;
  const IterationTime alone = costs_.decode(d);
  PromptIterations prompts;
  double together =
      load.closed ? load.per_iteration : load.rate * base::max(alone.period, base::nanosecond);
  for (int i = 0; i < 3; ++i) {
    prompts = costs_.with_prompts(d, together);
    const double usual = usual_prompts(prompts, load);
    if (prompts.whole || usual * prompts.units < kUsualUnits) {
      break;
    }
    together = std::max(2.0 * together, usual);
  }
  const std::size_t k = prompts.times.size() - 1;
  ServerState r;
  r.least = prompts.times[std::min<std::size_t>(1, k)] * prompts.latency;
  const double ends = load.closed ? prompts.units * load.per_iteration
                                  : prompts.units * load.rate * prompts.times[k];
  const bool first = costs_.prompts_first();
  // Where decodes wait for prompts, no client sends one meanwhile.
  if (ends > kMostLoad * static_cast<double>(k) && !(load.closed && first)) {
    r.stable = false;
    return r;
  }
  queueing::BatchQueue queue;
  queue.times = prompts.times;
  queue.sizes = prompts.sizes;
  queue.alone = first;
  for (std::size_t s = 0; s <= k && !load.closed; ++s) {
    queue.arrivals.push_back(load.rate * prompts.times[s]);
    if (load.bursts.limit != 1.0) {
      const Seconds window = load.bursts.clusters
                                 ? base::max(prompts.times[s], kClusterPrompts * r.least)
                                 : prompts.times[s];
      queue.bursts.push_back(std::max(0.02, load.bursts.dispersion(window)));
    }
  }
  const queueing::BatchQueueStates states =
      load.closed ? states_of_clients(load.per_iteration, load.delay, queue)
                  : queueing::BatchQueueStates(queue);
  queueing::BatchQueueStates::Stay stay{r.least, {}, {}};
  if (detail != Detail::decodes) {
    const bool rough = detail == Detail::means;
    stay = rough ? states.stay({{prompts.units, 1.0}}, true) : states.stay(prompts.requests);
  }
  r.iteration = states.mean();
  r.share = states.busy();
  const Seconds more = r.least - prompts.times[std::min<std::size_t>(1, k)];  // other stages
  r.first = stay.mean + more;
  r.first_square = stay.square + 2.0 * more * stay.mean + more * more;
  r.waits = stay.waits;
  if (d > 0.0 && s_.serving->policy.plans_ahead &&
      stages_ == 1.0) {  // and the iteration that was planned before
    r.first_square += 2.0 * r.first * r.iteration + r.iteration * r.iteration;
    r.first += r.iteration;
    r.waits += r.iteration;
  }
  if (d > 0.0) {
    const double in_flight = std::min(std::max(decodes, 1.0), stages_);
    Seconds gap = states.gap();
    if (load.closed &&
        first) {  // decodes wait for all prompts that ended ones let send, one by one at most
      gap = base::min(gap, prompts.times[0] + load.per_iteration * time_alone(prompts));
    }
    r.interval = base::max(gap + (alone.latency - alone.period), in_flight * gap);
    r.variance = base::max(SquareSeconds{}, states.gap_square() - square(states.gap()));
    r.persistence = load.closed || first ? 0.0
                                         : std::min(0.9, load.rate * prompts.units *
                                                             (prompts.times[k] - prompts.times[0]) /
                                                             static_cast<double>(k));
    r.interference = states.interference();
    for (Seconds& each : r.interference) {
      each *= in_flight;
    }
  }
  return r;
}

Seconds Server::own(double decodes) {
  const PromptIterations prompts = costs_.with_prompts(micro(decodes), 1.0);
  const auto k = static_cast<double>(prompts.times.size() - 1);
  const double batches = std::max(1.0, prompts.units / k);
  return batches * prompts.times[1] * prompts.latency;
}

double Server::slots_for_decodes(Hertz rate) { return std::max(1.0, slots_ - rate * own(slots_)); }

Hertz Server::saturation() {
  const Seconds front = (intake() + messages()) * front_share_;
  const Hertz ceiling = front > Seconds{} ? 1.0 / front : Hertz::infinity();
  return base::min(ceiling, saturation_of(s_, costs_, {slots_, decodes_}));
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
Server::Blocking Server::blocking(Hertz rate, double present, Seconds decoding,
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
    second = 1.0 + workloads::squared_variation(t.output);
    for (const workloads::WeightedLength& cell : workloads::cells_of(t.output)) {
      const double times = cell.tokens / static_cast<double>(t.output_tokens);
      third += cell.weight * times * times * times;
    }
  }
  const Seconds rest = 0.5 * second * decoding;
  const Seconds behind = rate / ranks_ * third / 6.0 * decoding * decoding;
  return {chance * (rest + (clients ? 0.5 : 1.0) * behind),
          std::min(1.0, chance * (1.0 + rate / ranks_ * rest))};
}

// A wait that happens with a probability and is then exponential.
void Server::add_blocking(Solution& found, const Blocking& blocking) {
  if (blocking.chance <= 0.0) {
    return;
  }
  const Seconds wait = blocking.wait / blocking.chance;
  LatencyMixture waits = found.first;
  waits.shift(wait, wait * wait, {});
  found.first.merge(1.0 - blocking.chance, waits);
  found.slot += blocking.wait;
}

// Means and percentiles of a solution.
//
//   ahead     s, before the scheduler has the request: overhead, intake, wait for the front end
//   delivery  s, until the client has the tokens of the first iteration
//   a_token   iterations per output token
void Server::report(Solution& found, SteadyState& r) {
  const workloads::Stack& stack = s_.serving->stack;
  const FrontEndLoad load = front_end(found.rate, found.present);
  const Seconds tokenising = intake() - stack.intake_overhead;
  const Seconds delivery =
      load.delay((costs_.prompts_first() ? Seconds{} : load.burst) + message_time());
  const Seconds ahead = stack.request_overhead + intake() + delivery;
  const double busy = load.load();
  const SquareSeconds variance =
      workloads::squared_variation(s_.traffic->input) * square(tokenising) +
      (busy > 0.0 ? square(found.front) * (2.0 / busy - 1.0) : SquareSeconds{});
  const workloads::StageTime& stages = s_.traffic->stages;
  LatencyMixture ttft = found.first;
  ttft.shift(ahead + found.front + stages.mean, variance + stages.variance, ahead);
  LatencyMixture tpot;
  if (decodes_ > 0.0) {
    const double a_token = decodes_ / static_cast<double>(s_.traffic->output_tokens - 1);
    const double persistent = (1.0 + found.mean.persistence) / (1.0 - found.mean.persistence);
    const Seconds least = a_token * costs_.decode(micro(1.0)).latency;
    for (const Answer& answer : answers_) {
      const double n = answer.decodes;
      tpot.add(answer.weight, a_token * (found.mean.interval + interference(found.mean, n) / n),
               square(a_token) * (found.interval_variance * kept(n / decodes_) +
                                  found.mean.variance * std::min(n, persistent) / n),
               least);
    }
  }
  report(found, ttft, tpot, r);
}

void Server::report(const Solution& found, const LatencyMixture& ttft, const LatencyMixture& tpot,
                    SteadyState& r) {
  r.ttft_mean = ttft.mean();
  r.ttft_p50 = ttft.quantile(0.5);
  r.ttft_tail = ttft.tail();
  r.tokens_per_iteration = 1.0;
  if (decodes_ > 0.0) {
    r.tokens_per_iteration = s_.serving->speculation.tokens_per_iteration();
    r.tpot = tpot.mean();
    r.tpot_tail = tpot.tail();
  }
  r.requests_per_second = found.rate * replicas_ / base::hertz;
  r.decode_batch = found.present / ranks_;
  r.running = found.running / ranks_;
  r.end_to_end = r.ttft_mean + (decodes_ * found.mean.interval + interference(found.mean));
  r.attainment = attainment(found, ttft, tpot);
  report_iterations(found, r);
}

// The objectives of a request are met together. TTFT and TPOT are taken as independent, and as the same in all classes.
double Server::attainment(const Solution& found, const LatencyMixture& ttft,
                          const LatencyMixture& tpot) const {
  const workloads::RequestClasses& classes = s_.traffic->classes;
  if (!any_objective(classes)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  // The first token, and the decodes of every length of an answer.
  LatencyMixture whole;
  for (const Answer& answer : answers_) {
    const double n = answer.decodes;
    whole.add(answer.weight, ttft.mean() + n * found.mean.interval + interference(found.mean, n),
              ttft.variance() + square(n) * found.interval_variance + n * found.mean.variance, {});
  }
  if (answers_.empty()) {
    whole = ttft;
  }
  double good = 0.0;
  for (const workloads::RequestClass& each : classes) {
    const workloads::Objectives& o = each.objectives;
    double share = 1.0;
    if (o.ttft) {
      share *= ttft.share_within(*o.ttft);
    }
    if (o.tpot && decodes_ > 0.0) {
      share *= tpot.share_within(*o.tpot);
    }
    if (o.end_to_end) {
      share = std::min(share, whole.share_within(*o.end_to_end));
    }
    good += each.share * share;
  }
  return good;
}

// The iterations behind the numbers: power, 90 % intervals, bounds.
//
//   mixed       an iteration with one prompt                   mixed_rate   1/s, iterations with prompts of a rank
//   decode      an iteration without prompts                   all_rate     1/s, iterations of a rank
void Server::report_iterations(const Solution& found, SteadyState& r) {
  const auto d = static_cast<std::int64_t>(std::llround(std::max(1.0, micro(found.present))));
  r.decode_iteration = costs_.decode_batch(decodes_ > 0.0 ? d : 0);
  // As many prompts as an iteration with some has on average. Its share is the one that computes all prompt tokens.
  const double prompt = static_cast<double>(s_.traffic->input_tokens - s_.traffic->cached_tokens);
  const double begin = decodes_ > 0.0 ? found.present / ranks_ / stages_ / decodes_
                                      : 1.0;  // prompts of an iteration
  const double together = decodes_ > 0.0 ? begin / std::max(found.mean.share, 1e-9) : 1.0;
  r.prefill_iteration = costs_.prompt_batch(d, std::max<std::int64_t>(1, std::llround(together)));
  const IterationCost mixed = iteration_cost(s_, r.prefill_iteration, workspace_);
  const IterationCost decode =
      decodes_ > 0.0 ? iteration_cost(s_, r.decode_iteration, workspace_) : mixed;
  const double batches =  // iterations with prompts, of a request
      prompt / static_cast<double>(r.prefill_iteration.prefill_sequences *
                                   r.prefill_iteration.prefill_tokens);
  r.prefill_share = decodes_ > 0.0 ? std::min(1.0, begin * batches) : 1.0;
  r.decode_clock = decode.clock;
  r.prefill_clock = mixed.clock;
  const IterationMix mix{decode, mixed};
  const double mixed_rate = found.rate / base::hertz / ranks_ * batches;
  const double all_rate =
      found.rate / base::hertz / ranks_ * decodes_ / std::max(1.0, micro(found.present));
  r.power = mix.power(std::max(0.0, all_rate - mixed_rate), mixed_rate, stages_,
                      s_.platform->machine.power);
  r.prompt_share =
      mix.prompt_share(std::max(0.0, all_rate - mixed_rate), mixed_rate, decodes_ > 0.0);
  const models::Uncertainty& u = s_.platform->machine.uncertainty;
  const Seconds ttft = r.ttft_mean;
  const Seconds own = found.mean.first - found.mean.waits;
  const Seconds stages = s_.traffic->stages.mean;
  r.tpot_spread = mix.tpot_spread(found.mean.share, u);
  r.ttft_spread = mix.ttft_spread(std::min(1.0, found.mean.first / ttft),
                                  std::min(1.0, found.slot / ttft), r.tpot_spread, u);
  r.ttft_limit = mixed.limit();
  if (stages > 0.5 * ttft) {
    r.ttft_limit = Limit::stages;
  } else if (found.slot > base::max(found.mean.waits, own)) {
    r.ttft_limit = Limit::slots;
  } else if (found.mean.waits > own) {
    r.ttft_limit = Limit::waiting;
  } else if (ttft - stages - found.slot - found.mean.first > own) {
    r.ttft_limit = Limit::host;
  }
  r.tpot_limit = mix.limit(found.mean.share);
}

}  // namespace roofcast::sim
