// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/server.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/iteration/memory.hpp"
#include "sim/serving/iteration_mix.hpp"
#include "sim/serving/sampled_requests.hpp"

namespace roofcast::sim {
namespace {

using base::Hertz;
using base::Seconds;

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

// Iterations a second of a rank.
struct IterationRates {
  double decode = 0;  // without prompts
  double mixed = 0;
};

//   requests    1/s, of a rank       batches   iterations with prompts, of a request
//   decodes     O                    micro     sequences that decode in a micro-batch
//
// Prompts hold decodes up, so fewer run in the mean over time than in the mean over iterations. A server is not busy for more
// than all of its time.
IterationRates rates_of(const IterationMix& mix, double requests, double batches, double decodes,
                        double micro) {
  const double mixed = requests * batches;
  const double all = requests * decodes / std::max(1.0, micro);
  const double left = std::max(0.0, 1.0 - mixed * mix.mixed.period.si());
  return {std::min(std::max(0.0, all - mixed), left / mix.decode.period.si()), mixed};
}

// How many iterations like this one a prompt takes.
double batches_of(const ScenarioView& s, const workloads::Batch& with_prompts) {
  const auto prompt = static_cast<double>(s.traffic->input_tokens - s.traffic->cached_tokens);
  return prompt / static_cast<double>(with_prompts.prefill_sequences * with_prompts.prefill_tokens);
}

}  // namespace

base::Watts power_of(const ScenarioView& s, const SteadyState& r, Workspace& workspace) {
  const double decodes = s.serving->speculation.iterations(s.traffic->output_tokens - 1);
  const auto stages = static_cast<double>(s.mapping->pipeline_parallel);
  const double micro = std::max(1.0, r.decode_batch / stages);
  workloads::Batch alone = r.decode_iteration;
  workloads::Batch with_prompts = r.prefill_iteration;
  for (workloads::Batch* batch : {&alone, &with_prompts}) {
    batch->decode_sequences = batch->decode_sequences > 0 ? std::llround(micro) : 0;
  }
  const IterationCost mixed = iteration_cost(s, with_prompts, workspace);
  const IterationCost decode = decodes > 0.0 ? iteration_cost(s, alone, workspace) : mixed;
  const IterationMix mix{decode, mixed};
  // That clients use, as those of Server.
  const std::int64_t replicas = s.traffic->concurrency > 0
                                    ? std::min(s.serving->replicas, s.traffic->concurrency)
                                    : s.serving->replicas;
  const auto ranks = static_cast<double>(replicas * s.mapping->data_parallel);
  const IterationRates rates =
      rates_of(mix, r.requests_per_second / ranks, batches_of(s, with_prompts), decodes, micro);
  return mix.power(rates.decode, rates.mixed, stages, s.platform->machine.power);
}

double held_tokens(const ScenarioView& s) {
  const workloads::Traffic& t = *s.traffic;
  const double f = s.serving->policy.reserves == workloads::Reservation::request
                       ? std::min(1.0, s.serving->policy.reserved_output)
                       : 0.0;
  return static_cast<double>(t.input_tokens) + 0.5 * (1.0 + f * f) *
                                                   static_cast<double>(t.output_tokens) *
                                                   (1.0 + workloads::squared_variation(t.output));
}

double sequences_in(base::Bytes cache, const ScenarioView& s) {
  const base::Bytes held =
      states_of(s) +
      keys_of(held_tokens(s) + static_cast<double>(s.serving->speculation.verified()), s);
  return held > base::Bytes{} ? cache / held : static_cast<double>(s.serving->limits.max_sequences);
}

double attainment_of(const workloads::RequestClasses& classes, const LatencyMixture& ttft,
                     const LatencyMixture& tpot, base::Seconds decoding) {
  if (!any_objective(classes)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  LatencyMixture whole;
  whole.add(1.0, ttft.mean() + decoding, ttft.variance(), {});
  double good = 0.0;
  for (const workloads::RequestClass& each : classes) {
    const workloads::Objectives& o = each.objectives;
    double share = o.ttft ? ttft.share_within(*o.ttft) : 1.0;
    share *= o.tpot && decoding > Seconds{} ? tpot.share_within(*o.tpot) : 1.0;
    share = o.end_to_end ? std::min(share, whole.share_within(*o.end_to_end)) : share;
    good += each.share * share;
  }
  return good;
}

void report_latencies(const ScenarioView& s, const LatencyMixture& ttft, const LatencyMixture& tpot,
                      SteadyState& r) {
  r.ttft_mean = ttft.mean();
  r.ttft_p50 = ttft.quantile(0.5);
  r.ttft_tail = ttft.tail();
  if (s.traffic->output_tokens > 1) {
    r.tokens_per_iteration = s.serving->speculation.tokens_per_iteration();
    r.tpot = tpot.mean();
    r.tpot_tail = tpot.tail();
  }
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
}

double Server::micro(double decodes) const {
  return decodes <= 0.0 ? 0.0 : std::max(1.0, decodes / (ranks_ * stages_));
}

Seconds Server::intake() const {
  // The rows that a recommender looks up are no text.
  const bool of_text = !s_.model->recommender.has_value();
  return workloads::intake_time(s_.serving->stack,
                                of_text ? static_cast<double>(s_.traffic->input_tokens) : 0.0);
}

Seconds Server::message_time() const {
  return s_.serving->stack.message_overhead /
         static_cast<double>(s_.serving->policy.stream_interval);
}

Seconds Server::messages() const {
  return static_cast<double>(s_.traffic->output_tokens) * message_time();
}

Hertz Server::saturation(const base::queueing::IterationServer& servers) const {
  const Seconds front = (intake() + messages()) * front_share_;
  const Hertz ceiling = front > Seconds{} ? 1.0 / front : Hertz::infinity();
  return base::min(ceiling, overloaded_rate(servers, s_, slots_));
}

void Server::report(const Solution& found, const LatencyMixture& ttft, const LatencyMixture& tpot,
                    SteadyState& r) {
  report_latencies(s_, ttft, tpot, r);
  r.requests_per_second = found.rate * replicas_ / base::hertz;
  r.front_end = found.rate * (intake() + messages()) * front_share_;
  r.decode_batch = found.present / ranks_;
  r.running = found.running / ranks_;
  r.end_to_end = r.ttft_mean + decodes_ * found.interval;
  r.attainment = attainment_of(s_.traffic->classes, ttft, tpot, decodes_ * found.interval);
  report_iterations(found, r);
}

// The iterations behind the numbers: power, 90 % intervals, bounds.
//
//   mixed    an iteration with prompts       decode   one without prompts
void Server::report_iterations(const Solution& found, SteadyState& r) {
  const auto d = static_cast<std::int64_t>(std::llround(std::max(1.0, micro(found.present))));
  r.decode_iteration = costs_.decode_batch(decodes_ > 0.0 ? d : 0);
  // As many prompts as an iteration with some has on average. Its share is the one that computes all prompt tokens.
  const double begin = decodes_ > 0.0 ? found.present / ranks_ / stages_ / decodes_
                                      : 1.0;  // prompts of an iteration
  const double together = decodes_ > 0.0 ? begin / std::max(found.share, 1e-9) : 1.0;
  r.prefill_iteration = costs_.prompt_batch(d, std::max<std::int64_t>(1, std::llround(together)));
  const IterationCost mixed = iteration_cost(s_, r.prefill_iteration, workspace_);
  const IterationCost decode =
      decodes_ > 0.0 ? iteration_cost(s_, r.decode_iteration, workspace_) : mixed;
  const double batches = batches_of(s_, r.prefill_iteration);
  r.prefill_share = decodes_ > 0.0 ? std::min(1.0, begin * batches) : 1.0;
  r.decode_clock = decode.clock;
  r.prefill_clock = mixed.clock;
  const IterationMix mix{decode, mixed};
  const IterationRates rates =
      rates_of(mix, found.rate / base::hertz / ranks_, batches, decodes_, micro(found.present));
  r.power = mix.power(rates.decode, rates.mixed, stages_, s_.platform->machine.power);
  r.prompt_share = mix.prompt_share(rates.decode, rates.mixed, decodes_ > 0.0);
  const models::Uncertainty& u = s_.platform->machine.uncertainty;
  const Seconds ttft = r.ttft_mean;
  const Seconds own = found.first - found.waits - found.sending;
  const Seconds stages = s_.traffic->stages.mean;
  r.tpot_spread = mix.tpot_spread(found.share, u);
  r.ttft_spread = mix.ttft_spread(std::min(1.0, found.first / ttft),
                                  std::min(1.0, found.slot / ttft), r.tpot_spread, u);
  const Seconds host =
      base::max(Seconds{}, ttft - stages - found.slot - found.first + found.sending);
  r.ttft_host = std::min(1.0, host / ttft);
  r.ttft_limit = mixed.limit();
  if (stages > 0.5 * ttft) {
    r.ttft_limit = Limit::stages;
  } else if (host > base::max(found.slot, base::max(found.waits, own))) {
    r.ttft_limit = Limit::host;
  } else if (found.slot > base::max(found.waits, own)) {
    r.ttft_limit = Limit::slots;
  } else if (found.waits > own) {
    r.ttft_limit = Limit::waiting;
  }
  r.tpot_limit = mix.limit(found.share, r.held_up);
}

}  // namespace roofcast::sim
