// SPDX-License-Identifier: Apache-2.0
#include "sim/result/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/document/renamed.hpp"
#include "sim/result/training_step.hpp"

namespace roofcast::sim {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

using E = ServingEstimate;

double positive(double value) { return value > 0.0 ? value : kNone; }

double ttft(const E& e) { return e.steady.ttft_mean.si(); }
double tpot(const E& e) { return positive(e.steady.tpot.si()); }
double interactivity(const E& e) { return 1.0 / tpot(e); }
double per_gpu(const E& e) { return e.output_rate / static_cast<double>(e.gpus); }
double cost(const E& e) { return e.usd_per_mtok; }
double energy(const E& e) { return e.joules_per_token; }
double step_time(const E& e) { return e.workflow ? e.workflow->step().si() : kNone; }
template <auto Value>
double of_training(const E& e) {
  return e.workflow ? Value(e.workflow->training) : kNone;
}
template <auto Value>
double of_post_training(const E& e) {
  return e.workflow && e.workflow->post_training ? Value(*e.workflow->post_training) : kNone;
}
template <auto Value>
double of_run(const E& e) {
  return e.workflow && e.workflow->run ? Value(*e.workflow->run) : kNone;
}
double answer_tokens(const E& e) { return e.score.tokens * e.score.samples; }

// Rounds to four digits. The ends of an interval are not known more precisely, and a million rows have twelve million.
double four_digits(double value) {
  if (!(std::abs(value) > 0.0) || std::isinf(value)) {
    return value;
  }
  const double places = 3.0 - std::floor(std::log10(std::abs(value)));
  const double scale = std::pow(10.0, std::abs(places));
  return places > 0.0 ? std::round(value * scale) / scale : std::round(value / scale) * scale;
}
template <auto Value, models::Spread Spreads::*Of>
double low(const E& e) {
  return four_digits(Value(e) * (1.0 - (e.spreads.*Of).below));
}
template <auto Value, models::Spread Spreads::*Of>
double high(const E& e) {
  return four_digits(Value(e) * (1.0 + (e.spreads.*Of).above));
}
constexpr std::string_view kLow = "a server is below it one time in twenty";
constexpr std::string_view kHigh = "a server is above it one time in twenty";

constexpr Metric kMetrics[] = {
    {"ttft_mean_s", "TTFT mean", "s", Better::lower,
     "time to first token: request overhead, waiting, prefill", ttft},
    {"low90_ttft_mean_s", "TTFT, low", "s", Better::lower, kLow, low<ttft, &Spreads::ttft>,
     "ttft_mean_s"},
    {"high90_ttft_mean_s", "TTFT, high", "s", Better::lower, kHigh, high<ttft, &Spreads::ttft>,
     "ttft_mean_s"},
    {"ttft_p50_s", "TTFT p50", "s", Better::lower, "median time to first token",
     [](const E& e) { return e.steady.ttft_p50.si(); }},
    {"ttft_p95_s", "TTFT p95", "s", Better::lower,
     "time to first token that one request in twenty exceeds",
     [](const E& e) { return positive(e.steady.ttft_tail.p95.si()); }},
    {"ttft_p99_s", "TTFT p99", "s", Better::lower,
     "time to first token that one request in a hundred exceeds",
     [](const E& e) { return positive(e.steady.ttft_tail.p99.si()); }},
    {"tpot_mean_s", "TPOT", "s", Better::lower,
     "time per output token after the first, slowed by other requests' prefills", tpot},
    {"low90_tpot_mean_s", "TPOT, low", "s", Better::lower, kLow, low<tpot, &Spreads::tpot>,
     "tpot_mean_s"},
    {"high90_tpot_mean_s", "TPOT, high", "s", Better::lower, kHigh, high<tpot, &Spreads::tpot>,
     "tpot_mean_s"},
    {"tpot_p95_s", "TPOT p95", "s", Better::lower,
     "mean time per output token of a request that one in twenty exceeds",
     [](const E& e) { return positive(e.steady.tpot_tail.p95.si()); }},
    {"tpot_p99_s", "TPOT p99", "s", Better::lower,
     "mean time per output token of a request that one in a hundred exceeds",
     [](const E& e) { return positive(e.steady.tpot_tail.p99.si()); }},
    {"e2e_mean_s", "End to end", "s", Better::lower, "mean time from request to last token",
     [](const E& e) { return e.steady.end_to_end.si(); }},
    {"interactivity_tok_per_s_per_user", "Interactivity", "tok/s/user", Better::higher,
     "output tokens per second that one user sees, 1/TPOT", interactivity},
    {"low90_interactivity_tok_per_s_per_user", "Interactivity, low", "tok/s/user", Better::higher,
     kLow, low<interactivity, &Spreads::interactivity>, "interactivity_tok_per_s_per_user"},
    {"high90_interactivity_tok_per_s_per_user", "Interactivity, high", "tok/s/user", Better::higher,
     kHigh, high<interactivity, &Spreads::interactivity>, "interactivity_tok_per_s_per_user"},
    {"throughput_tok_per_s_per_gpu", "Throughput per GPU", "tok/s/GPU", Better::higher,
     "output tokens per second, divided by the GPUs", per_gpu},
    {"low90_throughput_tok_per_s_per_gpu", "Throughput per GPU, low", "tok/s/GPU", Better::higher,
     kLow, low<per_gpu, &Spreads::rate>, "throughput_tok_per_s_per_gpu"},
    {"high90_throughput_tok_per_s_per_gpu", "Throughput per GPU, high", "tok/s/GPU", Better::higher,
     kHigh, high<per_gpu, &Spreads::rate>, "throughput_tok_per_s_per_gpu"},
    {"throughput_tok_per_s", "Throughput", "tok/s", Better::higher,
     "output tokens per second of all replicas", [](const E& e) { return e.output_rate; }},
    {"requests_per_s", "Request rate", "1/s", Better::higher, "requests completed per second",
     [](const E& e) { return e.steady.requests_per_second; }},
    {.name = "attainment",
     .label = "Attainment",
     .unit = "",
     .better = Better::higher,
     .description = "share of the requests that meet every objective (TTFT, TPOT, end to end)",
     .value = [](const E& e) { return e.steady.attainment; },
     .of_objectives = true},
    {.name = "goodput",
     .label = "Goodput",
     .unit = "1/s",
     .better = Better::higher,
     .description = "requests per second that meet every objective",
     .value = [](const E& e) { return e.steady.attainment * e.steady.requests_per_second; },
     .of_objectives = true},
    {"utilisation", "Utilisation", "", Better::none,
     "arrivals over the most that can be served; empty for clients that wait",
     [](const E& e) { return positive(e.steady.utilisation); }},
    {"saturation_requests_per_s", "Saturation", "1/s", Better::higher,
     "arrivals a second beyond which queues grow without end; empty for clients that wait",
     [](const E& e) { return positive(e.steady.saturation); }},
    {"cost_usd_per_mtok", "Cost", "USD/Mtok", Better::lower,
     "of the GPUs per million output tokens, prompts included", cost},
    {"low90_cost_usd_per_mtok", "Cost, low", "USD/Mtok", Better::lower, kLow,
     low<cost, &Spreads::end_to_end>, "cost_usd_per_mtok"},
    {"high90_cost_usd_per_mtok", "Cost, high", "USD/Mtok", Better::lower, kHigh,
     high<cost, &Spreads::end_to_end>, "cost_usd_per_mtok"},
    {.name = "input_cost_usd_per_mtok",
     .label = "Cost of input",
     .unit = "USD/Mtok",
     .better = Better::lower,
     .description =
         "of a million input tokens that are not cached, by the share of time that prompts take",
     .value = [](const E& e) { return e.economics.input_usd_per_mtok; },
     .of_prices = true},
    {.name = "cached_cost_usd_per_mtok",
     .label = "Cost of cached input",
     .unit = "USD/Mtok",
     .better = Better::lower,
     .description = "of a million input tokens that the prefix cache holds: attention to them",
     .value = [](const E& e) { return e.economics.cached_usd_per_mtok; },
     .of_prices = true},
    {.name = "output_cost_usd_per_mtok",
     .label = "Cost of output",
     .unit = "USD/Mtok",
     .better = Better::lower,
     .description = "of a million output tokens, without their prompts",
     .value = [](const E& e) { return e.economics.output_usd_per_mtok; },
     .of_prices = true},
    {"power_w_per_gpu", "Power per GPU", "W", Better::lower,
     "mean power of one GPU, without hosts, switches and cooling",
     [](const E& e) { return e.steady.power.si(); }},
    {"energy_j_per_tok", "Energy", "J/tok", Better::lower,
     "energy of the GPUs per output token, prompts included", energy},
    {"low90_energy_j_per_tok", "Energy, low", "J/tok", Better::lower, kLow,
     low<energy, &Spreads::energy>, "energy_j_per_tok"},
    {"high90_energy_j_per_tok", "Energy, high", "J/tok", Better::lower, kHigh,
     high<energy, &Spreads::energy>, "energy_j_per_tok"},
    {"tok_per_j", "Tokens per joule", "tok/J", Better::higher,
     "output tokens per joule of the GPUs", [](const E& e) { return 1.0 / e.joules_per_token; }},
    {.name = "tok_per_s_per_mw",
     .label = "Throughput per MW",
     .unit = "tok/s/MW",
     .better = Better::higher,
     .description =
         "output tokens per second and megawatt that the site must deliver: GPUs at their limit, "
         "hosts and PUE",
     .value = [](const E& e) { return e.output_rate / (e.economics.reserved.si() / base::mega); },
     .of_prices = true},
    {.name = "co2_g_per_mtok",
     .label = "CO2",
     .unit = "g/Mtok",
     .better = Better::lower,
     .description = "of the electricity of GPUs, hosts and site per million output tokens",
     .value = [](const E& e) { return e.economics.co2_g_per_mtok; },
     .of_prices = true},
    {.name = "gpus_in_power_budget",
     .label = "GPUs under the power budget",
     .unit = "",
     .better = Better::higher,
     .description = "of the most replicas that the budget feeds at their limit",
     .value = [](const E& e) { return e.economics.gpus_in_budget; },
     .of_prices = true},
    {.name = "power_budget_tok_per_s",
     .label = "Throughput under the power budget",
     .unit = "tok/s",
     .better = Better::higher,
     .description = "output tokens per second of so many replicas",
     .value =
         [](const E& e) {
           return e.output_rate * e.economics.gpus_in_budget / static_cast<double>(e.gpus);
         },
     .of_prices = true},
    {"gpus", "GPUs", "", Better::lower, "GPUs of all replicas, or of both pools",
     [](const E& e) { return static_cast<double>(e.gpus); }},
    {"decode_batch", "Decode batch", "seq", Better::none,
     "sequences decoding at once on one attention-DP rank",
     [](const E& e) { return e.steady.decode_batch; }},
    {"tokens_per_iteration", "Tokens per iteration", "tok", Better::higher,
     "output tokens that a decode step yields of a sequence; 1 without speculative decoding",
     [](const E& e) { return e.steady.tokens_per_iteration; }},
    {"max_running", "KV cache holds", "seq", Better::higher,
     "requests of this length the KV cache of one attention-DP rank can hold",
     [](const E& e) { return e.max_running; }},
    {"prefill_share", "Prefill share", "", Better::none,
     "share of iterations that carry prompt tokens",
     [](const E& e) { return e.steady.prefill_share; }},
    {"memory_b_per_gpu", "Memory per GPU", "B", Better::lower,
     "weights, activations, reserve and KV cache in use on the fullest GPU",
     [](const E& e) { return e.memory.si(); }},
    {"weights_b_per_gpu", "Weights per GPU", "B", Better::lower, "weights on the fullest GPU",
     [](const E& e) { return e.footprint.weights.si(); }},
    {.name = "step_s",
     .label = "Step",
     .unit = "s",
     .better = Better::lower,
     .description = "one optimizer step, or one step of RL post-training",
     .value = step_time,
     .of_training = true},
    {.name = "mfu",
     .label = "MFU",
     .unit = "",
     .better = Better::higher,
     .description = "model FLOP of an optimizer step over the peak of its GPUs",
     .value = of_training<[](const TrainingStep& t) { return t.utilisation; }>,
     .of_training = true},
    {.name = "model_flop_per_s_per_gpu",
     .label = "Model FLOP/s per GPU",
     .unit = "FLOP/s",
     .better = Better::higher,
     .description = "of an optimizer step; what is computed again is not counted",
     .value = of_training<[](const TrainingStep& t) { return t.model_flop_rate.si(); }>,
     .of_training = true},
    {.name = "bubble_share",
     .label = "Pipeline bubble",
     .unit = "",
     .better = Better::lower,
     .description = "share of an optimizer step",
     .value = of_training<[](const TrainingStep& t) { return t.bubble / t.time; }>,
     .of_training = true},
    {.name = "run_s",
     .label = "Run",
     .unit = "s",
     .better = Better::lower,
     .description = "mean time of the whole run: steps, checkpoints, failures, maintenance",
     .value = of_run<[](const TrainingRunEstimate& r) { return r.time.si(); }>,
     .of_training = true,
     .of_run = true},
    {.name = "run_p50_s",
     .label = "Run p50",
     .unit = "s",
     .better = Better::lower,
     .description = "time that half of the runs exceed, by the chance of failures alone",
     .value = of_run<[](const TrainingRunEstimate& r) { return r.p50.si(); }>,
     .of_training = true,
     .of_run = true},
    {.name = "run_p95_s",
     .label = "Run p95",
     .unit = "s",
     .better = Better::lower,
     .description = "time that one run in twenty exceeds, by the chance of failures alone",
     .value = of_run<[](const TrainingRunEstimate& r) { return r.p95.si(); }>,
     .of_training = true,
     .of_run = true},
    {.name = "effective_training_time",
     .label = "Effective training time",
     .unit = "",
     .better = Better::higher,
     .description = "steps without interruption over the time of the run (ETTR)",
     .value = of_run<[](const TrainingRunEstimate& r) { return r.effective; }>,
     .of_training = true,
     .of_run = true},
    {.name = "interruptions",
     .label = "Interruptions",
     .unit = "",
     .better = Better::lower,
     .description = "unplanned stops of the run",
     .value = of_run<[](const TrainingRunEstimate& r) { return r.interruptions; }>,
     .of_training = true,
     .of_run = true},
    {.name = "between_failures_s",
     .label = "Between failures",
     .unit = "s",
     .better = Better::higher,
     .description = "mean time between failures of the job (MTTF)",
     .value = of_run<[](const TrainingRunEstimate& r) { return r.between.si(); }>,
     .of_training = true,
     .of_run = true},
    {.name = "checkpoint_interval_s",
     .label = "Checkpoint interval",
     .unit = "s",
     .better = Better::none,
     .description = "useful time between checkpoints: the given one, or the best",
     .value = of_run<[](const TrainingRunEstimate& r) { return r.interval.si(); }>,
     .of_training = true,
     .of_run = true},
    {.name = "checkpoint_b",
     .label = "Checkpoint",
     .unit = "B",
     .better = Better::lower,
     .description = "parameters and optimizer states",
     .value = of_run<[](const TrainingRunEstimate& r) { return r.checkpoint.si(); }>,
     .of_training = true,
     .of_run = true},
    {.name = "gpu_hours",
     .label = "GPU-hours",
     .unit = "GPU-h",
     .better = Better::lower,
     .description = "of the run, spare hosts included",
     .value = of_run<[](const TrainingRunEstimate& r) { return r.gpu_hours; }>,
     .of_training = true,
     .of_run = true},
    {.name = "run_usd",
     .label = "Cost of the run",
     .unit = "USD",
     .better = Better::lower,
     .description = "of the GPUs and spares for the whole run",
     .value = of_run<[](const TrainingRunEstimate& r) { return r.usd; }>,
     .of_training = true,
     .of_run = true},
    {.name = "run_j",
     .label = "Energy of the run",
     .unit = "J",
     .better = Better::lower,
     .description = "of the GPUs and spares, without hosts and cooling",
     .value = of_run<[](const TrainingRunEstimate& r) { return r.energy.si(); }>,
     .of_training = true,
     .of_run = true},
    {.name = "rollout_s",
     .label = "Rollout",
     .unit = "s",
     .better = Better::lower,
     .description =
         "of RL post-training: from the first prompt to the last token of the longest response",
     .value = of_post_training<[](const PostTrainingStep& s) { return s.rollout.si(); }>,
     .of_training = true},
    {.name = "trained_s",
     .label = "Log-probabilities and training",
     .unit = "s",
     .better = Better::lower,
     .description = "of RL post-training: forward passes and optimizer steps",
     .value = of_post_training<[](const PostTrainingStep& s) { return s.trained().si(); }>,
     .of_training = true},
    {.name = "refit_s",
     .label = "Refit",
     .unit = "s",
     .better = Better::lower,
     .description = "of RL post-training: new weights to the rollouts",
     .value = of_post_training<[](const PostTrainingStep& s) { return s.refit.si(); }>,
     .of_training = true},
    {.name = "score",
     .label = "Score",
     .unit = "%",
     .better = Better::higher,
     .description = "of the benchmark in `accuracy`, as published, or of the curve there",
     .value = [](const E& e) { return e.score.percent; },
     .of_answers = true},
    {.name = "tokens_per_answer",
     .label = "Tokens per answer",
     .unit = "tok",
     .better = Better::lower,
     .description = "output tokens of an answer in that benchmark, of all its samples",
     .value = answer_tokens,
     .of_answers = true},
    {.name = "answer_s",
     .label = "Time to answer",
     .unit = "s",
     .better = Better::lower,
     .description =
         "TTFT and the tokens of a sample at this TPOT, as many times as the clients take "
         "for all its samples",
     .value =
         [](const E& e) { return e.score.rounds * (ttft(e) + (e.score.tokens - 1.0) * tpot(e)); },
     .of_answers = true},
    {.name = "usd_per_answer",
     .label = "Cost of an answer",
     .unit = "USD",
     .better = Better::lower,
     .description = "its tokens at the price of this scenario's output tokens",
     .value = [](const E& e) { return answer_tokens(e) * e.usd_per_mtok / base::mega; },
     .of_answers = true},
    {.name = "gpu_s_per_answer",
     .label = "GPU time of an answer",
     .unit = "GPU s",
     .better = Better::lower,
     .description = "its tokens over the throughput of one GPU",
     .value = [](const E& e) { return answer_tokens(e) / per_gpu(e); },
     .of_answers = true},
    {.name = "task_mean_s",
     .label = "Task time",
     .unit = "s",
     .better = Better::lower,
     .description = "of an agent, mean, from its first turn to its last answer",
     .value = [](const E& e) { return positive(e.task.mean.si()); },
     .of_agents = true},
    {.name = "task_p50_s",
     .label = "Task time p50",
     .unit = "s",
     .better = Better::lower,
     .description = "median time of a task",
     .value = [](const E& e) { return positive(e.task.p50.si()); },
     .of_agents = true},
    {.name = "task_p95_s",
     .label = "Task time p95",
     .unit = "s",
     .better = Better::lower,
     .description = "time of a task that one in twenty exceeds",
     .value = [](const E& e) { return positive(e.task.p95.si()); },
     .of_agents = true},
    {.name = "tasks_per_gpu_hour",
     .label = "Tasks per GPU-hour",
     .unit = "1/GPU-h",
     .better = Better::higher,
     .description = "tasks that agents complete in an hour, divided by the GPUs",
     .value =
         [](const E& e) {
           return positive(e.task.per_second * base::hour.si() / static_cast<double>(e.gpus));
         },
     .of_agents = true},
    {.name = "usd_per_task",
     .label = "Cost of a task",
     .unit = "USD",
     .better = Better::lower,
     .description = "of the GPUs for the time that they take a task",
     .value = [](const E& e) { return e.task.per_second > 0.0 ? e.task.usd : kNone; },
     .of_agents = true},
    {.name = "prefix_hit_rate",
     .label = "Prefix hit rate",
     .unit = "",
     .better = Better::higher,
     .description = "share of agents' input tokens that the prefix cache finds",
     .value = [](const E& e) { return e.task.per_second > 0.0 ? e.task.prefix_hit_rate : kNone; },
     .of_agents = true},
    {.name = "tools_share",
     .label = "Time in tools",
     .unit = "",
     .better = Better::none,
     .description =
         "share of the time of agents and sub-agents, without those that wait for others",
     .value = [](const E& e) { return e.task.per_second > 0.0 ? e.task.tools_share : kNone; },
     .of_agents = true},
};

constexpr TextMetric kTextMetrics[] = {
    {"bound_ttft", "TTFT bound", "what most of TTFT is made of",
     [](const E& e) { return e.workflow ? "" : name(e.steady.ttft_limit); }},
    {"bound_tpot", "TPOT bound", "what most of TPOT is made of",
     [](const E& e) { return e.steady.tpot.si() > 0.0 ? name(e.steady.tpot_limit) : ""; }},
    {"bound_throughput", "Throughput bound", "what stops more throughput at this load",
     [](const E& e) { return e.workflow ? "" : name(e.steady.throughput_limit); }},
    {"provenance", "Provenance",
     "where the efficiencies behind the row come from, or that figures of the chip are assumed",
     [](const E& e) { return hardware::name(e.provenance); }},
};

}  // namespace

std::span<const Metric> metrics() { return kMetrics; }

const Metric* find_metric(std::string_view name) {
  name = base::current_name(name);
  const auto it = std::find_if(std::begin(kMetrics), std::end(kMetrics),
                               [&](const Metric& m) { return m.name == name; });
  return it == std::end(kMetrics) ? nullptr : it;
}

Interval90 interval90(const Metric& metric, const ServingEstimate& estimate) {
  Interval90 interval{kNone, kNone};
  for (const Metric& bound : kMetrics) {
    if (bound.bounds == metric.name) {
      (bound.name.starts_with("low") ? interval.low : interval.high) = bound.value(estimate);
    }
  }
  return interval;
}

std::span<const TextMetric> text_metrics() { return kTextMetrics; }

}  // namespace roofcast::sim
