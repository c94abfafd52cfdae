// SPDX-License-Identifier: Apache-2.0
//
// The table of metrics: what `roofcast explain` says of each, and how it is taken from an estimate.
#include "sim/result/metrics.hpp"

#include <algorithm>
#include <cmath>

#include "base/decimal.hpp"
#include "base/no_number.hpp"
#include "sim/result/metric_validity.hpp"
#include "sim/result/training_step.hpp"

namespace roofcast::sim {
namespace {

using base::kNoNumber;
using namespace validity;

using E = ServingEstimate;

double positive(double value) { return value > 0.0 ? value : kNoNumber; }

double ttft(const E& e) { return e.steady.ttft_mean.si(); }
double tpot(const E& e) { return positive(e.steady.tpot.si()); }
double interactivity(const E& e) { return 1.0 / tpot(e); }
double gpus(const E& e) { return static_cast<double>(e.gpus); }
double per_gpu(const E& e) { return e.output_rate / gpus(e); }
double cost(const E& e) { return e.usd_per_mtok; }
double energy(const E& e) { return e.joules_per_token; }
double clock(const E& e, double share) {
  return e.workflow || std::isnan(e.steady.power.si()) ? kNoNumber : share;
}
double step_time(const E& e) { return e.workflow ? e.workflow->step().si() : kNoNumber; }
template <auto Value>
double of_training(const E& e) {
  return e.workflow ? Value(e.workflow->training) : kNoNumber;
}
template <auto Value>
double of_post_training(const E& e) {
  return e.workflow && e.workflow->post_training ? Value(*e.workflow->post_training) : kNoNumber;
}

// Rounds to four digits. The ends of an interval are not known more precisely, and a million rows have twelve million.
double four_digits(double value) {
  if (!(std::abs(value) > 0.0) || std::isinf(value)) {
    return value;
  }
  const int places = 3 - base::first_place(std::abs(value));
  const auto power = static_cast<std::size_t>(std::abs(places));
  const double scale = power < base::kPowersOfTen.size()
                           ? base::kPowersOfTen[power]
                           : std::pow(10.0, static_cast<double>(power));
  return places > 0 ? std::round(value * scale) / scale : std::round(value / scale) * scale;
}
template <auto Value, models::Spread Spreads::*Of>
double exact_low(const E& e) {
  return Value(e) * (1.0 - (e.spreads.*Of).below);
}
template <auto Value, models::Spread Spreads::*Of>
double exact_high(const E& e) {
  return Value(e) * (1.0 + (e.spreads.*Of).above);
}
template <auto Value, models::Spread Spreads::*Of>
double low(const E& e) {
  return four_digits(exact_low<Value, Of>(e));
}
template <auto Value, models::Spread Spreads::*Of>
double high(const E& e) {
  return four_digits(exact_high<Value, Of>(e));
}
constexpr std::string_view kLow = "a server is below it one time in twenty";
constexpr std::string_view kHigh = "a server is above it one time in twenty";

constexpr std::string_view kLowFormula = "estimate x (1 - share by which it may be too high)";
constexpr std::string_view kHighFormula = "estimate x (1 + share by which it may be too low)";

constexpr Metric serving(Metric metric) {
  metric.scope = Scope::serving;
  return metric;
}
constexpr Metric engines(Metric metric) {
  metric.scope = Scope::engines;
  return metric;
}
constexpr Metric not_post_training(Metric metric) {
  metric.scope = Scope::not_post_training;
  return metric;
}

constexpr Metric kMetrics[] = {
    serving({"ttft_mean_s", "TTFT mean", "s", Better::lower,
             "time to first token: request overhead, waiting, prefill",
             "mean of: messages and request overhead + wait for a slot + the iterations "
             "of the prompt, up "
             "to its first token",
             kLatency, ttft}),
    {"low90_ttft_mean_s", "TTFT, low", "s", Better::lower, kLow, kLowFormula, kInterval,
     low<ttft, &Spreads::ttft>, exact_low<ttft, &Spreads::ttft>, "ttft_mean_s"},
    {"high90_ttft_mean_s", "TTFT, high", "s", Better::lower, kHigh, kHighFormula, kInterval,
     high<ttft, &Spreads::ttft>, exact_high<ttft, &Spreads::ttft>, "ttft_mean_s"},
    serving({"ttft_p50_s", "TTFT p50", "s", Better::lower, "median time to first token",
             "half of the requests have a shorter TTFT", kLatency,
             [](const E& e) { return e.steady.ttft_p50.si(); }}),
    serving({"ttft_p95_s", "TTFT p95", "s", Better::lower,
             "time to first token that one request in twenty exceeds",
             "95 % quantile of the TTFT of the requests", kTails,
             [](const E& e) { return positive(e.steady.ttft_tail.p95.si()); }}),
    serving({"ttft_p99_s", "TTFT p99", "s", Better::lower,
             "time to first token that one request in a hundred exceeds",
             "99 % quantile of the TTFT of the requests", kTails,
             [](const E& e) { return positive(e.steady.ttft_tail.p99.si()); }}),
    serving({"tpot_mean_s", "TPOT", "s", Better::lower,
             "time per output token after the first, slowed by other requests' prefills",
             "(time from the first to the last token) / (output tokens - 1), mean over requests",
             kLatency, tpot}),
    {"low90_tpot_mean_s", "TPOT, low", "s", Better::lower, kLow, kLowFormula, kInterval,
     low<tpot, &Spreads::tpot>, exact_low<tpot, &Spreads::tpot>, "tpot_mean_s"},
    {"high90_tpot_mean_s", "TPOT, high", "s", Better::lower, kHigh, kHighFormula, kInterval,
     high<tpot, &Spreads::tpot>, exact_high<tpot, &Spreads::tpot>, "tpot_mean_s"},
    serving({"tpot_p95_s", "TPOT p95", "s", Better::lower,
             "mean time per output token of a request that one in twenty exceeds",
             "95 % quantile of the TPOT of the requests", kTails,
             [](const E& e) { return positive(e.steady.tpot_tail.p95.si()); }}),
    serving({"tpot_p99_s", "TPOT p99", "s", Better::lower,
             "mean time per output token of a request that one in a hundred exceeds",
             "99 % quantile of the TPOT of the requests", kTails,
             [](const E& e) { return positive(e.steady.tpot_tail.p99.si()); }}),
    serving({"e2e_mean_s", "End to end", "s", Better::lower, "mean time from request to last token",
             "mean over requests of TTFT + (output tokens - 1) x TPOT", kLatency,
             [](const E& e) { return e.steady.end_to_end.si(); }}),
    serving({"interactivity_tok_per_s_per_user", "Interactivity", "tok/s/user", Better::higher,
             "output tokens per second that one user sees, 1/TPOT", "1 / tpot_mean_s", kLatency,
             interactivity}),
    {"low90_interactivity_tok_per_s_per_user", "Interactivity, low", "tok/s/user", Better::higher,
     kLow, kLowFormula, kInterval, low<interactivity, &Spreads::interactivity>,
     exact_low<interactivity, &Spreads::interactivity>, "interactivity_tok_per_s_per_user"},
    {"high90_interactivity_tok_per_s_per_user", "Interactivity, high", "tok/s/user", Better::higher,
     kHigh, kHighFormula, kInterval, high<interactivity, &Spreads::interactivity>,
     exact_high<interactivity, &Spreads::interactivity>, "interactivity_tok_per_s_per_user"},
    {"throughput_tok_per_s_per_gpu", "Throughput per GPU", "tok/s/GPU", Better::higher,
     "output tokens per second, divided by the GPUs", "throughput_tok_per_s / gpus", kRates,
     per_gpu},
    {"low90_throughput_tok_per_s_per_gpu", "Throughput per GPU, low", "tok/s/GPU", Better::higher,
     kLow, kLowFormula, kInterval, low<per_gpu, &Spreads::rate>, exact_low<per_gpu, &Spreads::rate>,
     "throughput_tok_per_s_per_gpu"},
    {"high90_throughput_tok_per_s_per_gpu", "Throughput per GPU, high", "tok/s/GPU", Better::higher,
     kHigh, kHighFormula, kInterval, high<per_gpu, &Spreads::rate>,
     exact_high<per_gpu, &Spreads::rate>, "throughput_tok_per_s_per_gpu"},
    {"throughput_tok_per_s", "Throughput", "tok/s", Better::higher,
     "output tokens per second of all replicas",
     "requests_per_s x mean output tokens of a request; in training, tokens trained per second",
     kRates, [](const E& e) { return e.output_rate; }},
    serving(
        {"requests_per_s", "Request rate", "1/s", Better::higher, "requests completed per second",
         "closed loop: the rate at which every client is somewhere (Little's law); open loop: the "
         "arrivals",
         kRates, [](const E& e) { return e.steady.requests_per_second; }}),
    {.name = "attainment",
     .label = "Attainment",
     .unit = "",
     .better = Better::higher,
     .description = "share of the requests that meet every objective (TTFT, TPOT, end to end)",
     .formula = "requests with TTFT, TPOT and end to end within traffic.objectives / all requests",
     .validity = kTails,
     .value = [](const E& e) { return e.steady.attainment; },
     .of_objectives = true,
     .scope = Scope::serving},
    {.name = "goodput",
     .label = "Goodput",
     .unit = "1/s",
     .better = Better::higher,
     .description = "requests per second that meet every objective",
     .formula = "attainment x requests_per_s",
     .validity = kTails,
     .value = [](const E& e) { return e.steady.attainment * e.steady.requests_per_second; },
     .of_objectives = true,
     .scope = Scope::serving},
    {.name = "utilisation",
     .label = "Utilisation",
     .unit = "",
     .description = "arrivals over the most that can be served; empty for clients that wait",
     .formula = "arrivals / saturation_requests_per_s",
     .validity = kRates,
     .value = [](const E& e) { return positive(e.steady.utilisation); },
     .of_arrivals = true,
     .scope = Scope::serving},
    {.name = "saturation_requests_per_s",
     .label = "Saturation",
     .unit = "1/s",
     .better = Better::higher,
     .description =
         "arrivals a second beyond which queues grow without end; empty for clients that wait",
     .formula = "the arrival rate at which all slots of all replicas stay busy",
     .validity = kRates,
     .value = [](const E& e) { return positive(e.steady.saturation); },
     .of_arrivals = true,
     .scope = Scope::serving},
    {"cost_usd_per_mtok", "Cost with prompts", "USD/Mtok output", Better::lower,
     "cost of the GPUs per million output tokens, prompts included",
     "USD per second of all GPUs / output tokens per second x 10^6", kCosts, cost},
    {"low90_cost_usd_per_mtok", "Cost with prompts, low", "USD/Mtok output", Better::lower, kLow,
     kLowFormula, kInterval, low<cost, &Spreads::cost>, exact_low<cost, &Spreads::cost>,
     "cost_usd_per_mtok"},
    {"high90_cost_usd_per_mtok", "Cost with prompts, high", "USD/Mtok output", Better::lower, kHigh,
     kHighFormula, kInterval, high<cost, &Spreads::cost>, exact_high<cost, &Spreads::cost>,
     "cost_usd_per_mtok"},
    {.name = "input_cost_usd_per_mtok",
     .label = "Cost of input",
     .unit = "USD/Mtok input",
     .better = Better::lower,
     .description = "cost of a million input tokens that are not cached, by the share of time that "
                    "prompts take",
     .formula = "w (1 - c) D / Y: D USD/s of all GPUs, w share of their time that prompts take, c "
                "share of that for cached tokens, Y new input tokens/s",
     .validity = kCosts,
     .value = [](const E& e) { return e.economics.input_usd_per_mtok; },
     .of_prices = true,
     .scope = Scope::serving},
    {.name = "cached_cost_usd_per_mtok",
     .label = "Cost of cached input",
     .unit = "USD/Mtok cached",
     .better = Better::lower,
     .description = "cost of a million input tokens that the prefix cache holds: attention to them",
     .formula = "w c D / Z: D, w and c as in input_cost_usd_per_mtok, Z cached input tokens/s",
     .validity = kCosts,
     .value = [](const E& e) { return e.economics.cached_usd_per_mtok; },
     .of_prices = true,
     .scope = Scope::serving,
     .needs = {"traffic.cached_tokens", "accuracy"}},
    {.name = "output_cost_usd_per_mtok",
     .label = "Cost without prompts",
     .unit = "USD/Mtok output",
     .better = Better::lower,
     .description = "cost of a million output tokens, without their prompts",
     .formula = "(1 - w) D / X: D and w as in input_cost_usd_per_mtok, X output tokens/s",
     .validity = kCosts,
     .value = [](const E& e) { return e.economics.output_usd_per_mtok; },
     .of_prices = true,
     .scope = Scope::serving},
    not_post_training({"power_w_per_gpu", "Power per GPU", "W", Better::lower,
                       "mean power of one GPU, without hosts, switches and cooling",
                       "active or idle draw + FLOP x energy of one + bytes of memory "
                       "and links x energy of one, over "
                       "time; at most 0.98 of power.cap, or of the TDP",
                       kPower, [](const E& e) { return e.steady.power.si(); }}),
    not_post_training({"energy_j_per_tok", "Energy with prompts", "J/tok output", Better::lower,
                       "energy of the GPUs per output token, prompts included",
                       "power_w_per_gpu x gpus / throughput_tok_per_s", kPower, energy}),
    serving({"low90_energy_j_per_tok", "Energy with prompts, low", "J/tok output", Better::lower,
             kLow, kLowFormula, kInterval, low<energy, &Spreads::energy>,
             exact_low<energy, &Spreads::energy>, "energy_j_per_tok"}),
    serving({"high90_energy_j_per_tok", "Energy with prompts, high", "J/tok output", Better::lower,
             kHigh, kHighFormula, kInterval, high<energy, &Spreads::energy>,
             exact_high<energy, &Spreads::energy>, "energy_j_per_tok"}),
    not_post_training({"tok_per_j", "Tokens per joule", "tok/J", Better::higher,
                       "output tokens per joule of the GPUs", "1 / energy_j_per_tok", kPower,
                       [](const E& e) { return 1.0 / e.joules_per_token; }}),
    {.name = "decode_clock",
     .label = "Decode clock",
     .unit = "",
     .better = Better::higher,
     .description = "share of the full clock that the power limit leaves to iterations without "
                    "prompts; empty if the TDP is not known",
     .formula =
         "the highest clock at which the mean power of such an iteration is within power.cap, "
         "or the TDP where there is no cap / compute.clock",
     .validity = kPower,
     .value = [](const E& e) { return clock(e, e.steady.decode_clock); },
     .of_clocks = true,
     .scope = Scope::serving},
    {.name = "prefill_clock",
     .label = "Prefill clock",
     .unit = "",
     .better = Better::higher,
     .description = "share of the full clock that the power limit leaves to iterations with "
                    "prompts; empty if the TDP is not known",
     .formula = "as decode_clock, of iterations with prompts",
     .validity = kPower,
     .value = [](const E& e) { return clock(e, e.steady.prefill_clock); },
     .of_clocks = true,
     .scope = Scope::serving},
    {.name = "tok_per_s_per_mw",
     .label = "Throughput per MW",
     .unit = "tok/s/MW",
     .better = Better::higher,
     .description = "output tokens per second and megawatt that the site must deliver: GPUs at "
                    "their limit, hosts and PUE",
     .formula = "throughput_tok_per_s / (gpus x (power.cap, or the TDP, + host power) x PUE)",
     .validity = kSite,
     .value = [](const E& e) { return e.output_rate / (e.economics.reserved.si() / base::mega); },
     .of_prices = true,
     .scope = Scope::serving,
     .needs = {"prices"}},
    {.name = "co2_g_per_mtok",
     .label = "CO2 with prompts",
     .unit = "g/Mtok output",
     .better = Better::lower,
     .description = "CO2 of the electricity of GPUs, hosts and site per million output tokens",
     .formula = "gpus x (power_w_per_gpu + host power, and both when idle x (1 / utilisation - 1)) "
                "x PUE x "
                "CO2 of the grid / throughput_tok_per_s",
     .validity = kSite,
     .value = [](const E& e) { return e.economics.co2_g_per_mtok; },
     .of_prices = true,
     .scope = Scope::serving,
     .needs = {"prices"}},
    {.name = "gpus_in_power_budget",
     .label = "GPUs under the power budget",
     .unit = "",
     .better = Better::higher,
     .description = "GPUs of the most replicas that the power budget feeds at their limit",
     .formula =
         "floor(budget / ((power.cap, or the TDP, + host power) x PUE of one replica)) x GPUs of a "
         "replica",
     .validity = kSite,
     .value = [](const E& e) { return e.economics.gpus_in_budget; },
     .of_prices = true,
     .needs = {"prices.power_budget"}},
    {.name = "power_budget_tok_per_s",
     .label = "Throughput under the power budget",
     .unit = "tok/s",
     .better = Better::higher,
     .description = "output tokens per second of the most replicas that the power budget feeds",
     .formula = "throughput_tok_per_s x gpus_in_power_budget / gpus",
     .validity = kSite,
     .value = [](const E& e) { return e.output_rate * e.economics.gpus_in_budget / gpus(e); },
     .of_prices = true,
     .needs = {"prices.power_budget"}},
    {"gpus", "GPUs", "", Better::lower, "GPUs of all replicas, or of both pools",
     "tensor x context x data x pipeline parallel sizes x replicas, of both pools where there are "
     "two",
     kCounts, gpus},
    serving({"decode_batch", "Decode batch", "seq", Better::none,
             "sequences decoding at once on one attention-DP rank",
             "mean number of sequences that decode at once on one attention-DP rank", kRates,
             [](const E& e) { return e.steady.decode_batch; }}),
    serving({"tokens_per_iteration", "Tokens per iteration", "tok", Better::higher,
             "output tokens that an iteration yields of a sequence; 1 without speculative decoding",
             "1 + mean accepted draft tokens", kDrafts,
             [](const E& e) { return e.steady.tokens_per_iteration; }}),
    engines({"max_running", "KV cache holds", "seq", Better::higher,
             "requests of this length the KV cache of one attention-DP rank can hold",
             "bytes of the KV cache of a rank / bytes of a request at its mean length", kCounts,
             [](const E& e) { return e.max_running; }}),
    serving({"prefill_share", "Prefill share", "", Better::none,
             "share of iterations that carry prompt tokens",
             "iterations with prompt tokens / all iterations", kRates,
             [](const E& e) { return e.steady.prefill_share; }}),
    {"memory_b_per_gpu", "Memory per GPU", "B", Better::lower,
     "weights, activations, reserve and KV cache in use on the fullest GPU",
     "weights + activations of the largest iteration + reserve + KV cache of the running requests",
     kCounts, [](const E& e) { return e.memory.si(); }},
    {"weights_b_per_gpu", "Weights per GPU", "B", Better::lower, "weights on the fullest GPU",
     "parameters of the rank x bytes of their formats, scales included", kCounts,
     [](const E& e) { return e.footprint.weights.si(); }},
    {.name = "step_s",
     .label = "Step",
     .unit = "s",
     .better = Better::lower,
     .description = "one optimizer step, or one step of RL post-training",
     .formula =
         "passes of all micro-batches + pipeline bubble + exposed exchange of gradients + update + "
         "host; in RL, the steps of rollout, training and refit that do not overlap",
     .validity = kTraining,
     .value = step_time,
     .of_training = true},
    {"low90_step_s", "Step, low", "s", Better::lower, "one run in twenty has a shorter step",
     kLowFormula, kInterval, low<step_time, &Spreads::step>, exact_low<step_time, &Spreads::step>,
     "step_s", false, true},
    {"high90_step_s", "Step, high", "s", Better::lower, "one run in twenty has a longer step",
     kHighFormula, kInterval, high<step_time, &Spreads::step>,
     exact_high<step_time, &Spreads::step>, "step_s", false, true},
    {.name = "mfu",
     .label = "MFU",
     .unit = "",
     .better = Better::higher,
     .description = "model FLOP of an optimizer step over the peak of its GPUs",
     .formula = "model_flop_per_s_per_gpu / dense peak of the GPU",
     .validity = kTraining,
     .value = of_training<[](const TrainingStep& t) { return t.utilisation; }>,
     .of_training = true},
    {.name = "model_flop_per_s_per_gpu",
     .label = "Model FLOP/s per GPU",
     .unit = "FLOP/s",
     .better = Better::higher,
     .description =
         "model FLOP per second of an optimizer step; what is computed again is not counted",
     .formula = "FLOP of forward and backward passes of the global batch / (step_s x gpus); "
                "recompute is not counted",
     .validity = kTraining,
     .value = of_training<[](const TrainingStep& t) { return t.model_flop_rate.si(); }>,
     .of_training = true},
    {.name = "bubble_share",
     .label = "Pipeline bubble",
     .unit = "",
     .better = Better::lower,
     .description = "share of an optimizer step that is pipeline bubble",
     .formula = "time of the pipeline bubble / step_s",
     .validity = kTraining,
     .value = of_training<[](const TrainingStep& t) { return t.bubble / t.time; }>,
     .of_training = true},
    {.name = "rollout_s",
     .label = "Rollout",
     .unit = "s",
     .better = Better::lower,
     .description =
         "rollout of RL post-training: first prompt to last token of the longest response",
     .formula = "from the first prompt of a step to the last token of its longest response",
     .validity = kTraining,
     .value = of_post_training<[](const PostTrainingStep& s) { return s.rollout.si(); }>,
     .of_training = true,
     .needs = {"rl"}},
    {.name = "trained_s",
     .label = "Log-probabilities and training",
     .unit = "s",
     .better = Better::lower,
     .description = "forward passes and optimizer steps of RL post-training",
     .formula = "forward passes for log-probabilities + optimizer steps",
     .validity = kTraining,
     .value = of_post_training<[](const PostTrainingStep& s) { return s.trained().si(); }>,
     .of_training = true,
     .needs = {"rl"}},
    {.name = "refit_s",
     .label = "Refit",
     .unit = "s",
     .better = Better::lower,
     .description = "new weights to the rollouts of RL post-training",
     .formula = "bytes of the new weights over the links from trainers to rollouts",
     .validity = kTraining,
     .value = of_post_training<[](const PostTrainingStep& s) { return s.refit.si(); }>,
     .of_training = true,
     .needs = {"rl"}},
};

}  // namespace

std::span<const Metric> estimate_metrics() { return kMetrics; }

}  // namespace roofcast::sim
