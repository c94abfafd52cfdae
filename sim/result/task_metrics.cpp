// SPDX-License-Identifier: Apache-2.0
//
// Metrics of answers to a benchmark, and of the tasks of agents.
#include "base/no_number.hpp"
#include "sim/result/metric_validity.hpp"
#include "sim/result/metrics.hpp"

namespace roofcast::sim {
namespace {

using base::kNoNumber;
using namespace validity;

using E = ServingEstimate;

double above_zero(double value) { return value > 0.0 ? value : kNoNumber; }
double answer_tokens(const E& e) { return e.score.tokens * e.score.samples; }
double rate_of_a_gpu(const E& e) { return e.output_rate / static_cast<double>(e.gpus); }

constexpr Metric kTaskMetrics[] = {
    {.name = "score",
     .label = "Score",
     .unit = "%",
     .better = Better::higher,
     .description = "score in the benchmark of `accuracy`, as published, or of the curve there",
     .formula = "as published for this model, precision and effort; or the user's curve at the "
                "length of the answers",
     .validity = kScores,
     .value = [](const E& e) { return e.score.percent; },
     .of_answers = true},
    {.name = "tokens_per_answer",
     .label = "Tokens per answer",
     .unit = "tok",
     .better = Better::lower,
     .description = "output tokens of an answer in that benchmark, of all its samples",
     .formula = "output tokens of a sample x samples",
     .validity = kScores,
     .value = answer_tokens,
     .of_answers = true},
    {.name = "answer_s",
     .label = "Time to answer",
     .unit = "s",
     .better = Better::lower,
     .description = "TTFT and the tokens of a sample at this TPOT, as many times as the clients "
                    "take for all its samples",
     .formula = "rounds of the clients x (TTFT + (tokens of a sample - 1) x TPOT)",
     .validity = kScores,
     .value =
         [](const E& e) {
           return e.score.rounds * (e.steady.ttft_mean.si() +
                                    (e.score.tokens - 1.0) * above_zero(e.steady.tpot.si()));
         },
     .of_answers = true},
    {.name = "usd_per_answer",
     .label = "Cost of an answer",
     .unit = "USD",
     .better = Better::lower,
     .description = "tokens of an answer at the price of this scenario's output tokens",
     .formula = "tokens_per_answer x cost_usd_per_mtok / 10^6",
     .validity = kScores,
     .value = [](const E& e) { return answer_tokens(e) * e.usd_per_mtok / base::mega; },
     .of_answers = true},
    {.name = "gpu_s_per_answer",
     .label = "GPU time of an answer",
     .unit = "GPU s",
     .better = Better::lower,
     .description = "tokens of an answer over the throughput of one GPU",
     .formula = "tokens_per_answer / throughput_tok_per_s_per_gpu",
     .validity = kScores,
     .value = [](const E& e) { return answer_tokens(e) / rate_of_a_gpu(e); },
     .of_answers = true},
    {.name = "task_mean_s",
     .label = "Task time",
     .unit = "s",
     .better = Better::lower,
     .description = "mean time of an agent's task, from its first turn to its last answer",
     .formula = "turns in the engine + tools + waits for sub-agents, mean over tasks",
     .validity = kAgents,
     .value = [](const E& e) { return above_zero(e.task.mean.si()); },
     .of_agents = true},
    {.name = "task_p50_s",
     .label = "Task time p50",
     .unit = "s",
     .better = Better::lower,
     .description = "median time of a task",
     .formula = "half of the tasks are shorter",
     .validity = kAgents,
     .value = [](const E& e) { return above_zero(e.task.p50.si()); },
     .of_agents = true},
    {.name = "task_p95_s",
     .label = "Task time p95",
     .unit = "s",
     .better = Better::lower,
     .description = "time of a task that one in twenty exceeds",
     .formula = "95 % quantile of the time of a task",
     .validity = kAgents,
     .value = [](const E& e) { return above_zero(e.task.p95.si()); },
     .of_agents = true},
    {.name = "tasks_per_gpu_hour",
     .label = "Tasks per GPU-hour",
     .unit = "1/GPU-h",
     .better = Better::higher,
     .description = "tasks that agents complete in an hour, divided by the GPUs",
     .formula = "tasks completed per second x 3600 / gpus",
     .validity = kAgents,
     .value =
         [](const E& e) {
           return above_zero(e.task.per_second * base::hour.si() / static_cast<double>(e.gpus));
         },
     .of_agents = true},
    {.name = "usd_per_task",
     .label = "Cost of a task",
     .unit = "USD",
     .better = Better::lower,
     .description = "cost of the GPUs for the time that a task takes them",
     .formula = "USD per second of all GPUs / tasks completed per second",
     .validity = kAgents,
     .value = [](const E& e) { return e.task.per_second > 0.0 ? e.task.usd : kNoNumber; },
     .of_agents = true},
    {.name = "prefix_hit_rate",
     .label = "Prefix hit rate",
     .unit = "",
     .better = Better::higher,
     .description = "share of agents' input tokens that the prefix cache finds",
     .formula = "input tokens found in the prefix cache / input tokens, of all turns",
     .validity = kAgents,
     .value =
         [](const E& e) { return e.task.per_second > 0.0 ? e.task.prefix_hit_rate : kNoNumber; },
     .of_agents = true},
    {.name = "tools_share",
     .label = "Time in tools",
     .unit = "",
     .better = Better::none,
     .description =
         "share of the time of agents and sub-agents, without those that wait for others",
     .formula = "time in tools / (time in tools + time in the engine), of agents and sub-agents",
     .validity = kAgents,
     .value = [](const E& e) { return e.task.per_second > 0.0 ? e.task.tools_share : kNoNumber; },
     .of_agents = true},
};

}  // namespace

std::span<const Metric> task_metrics() { return kTaskMetrics; }

}  // namespace roofcast::sim
