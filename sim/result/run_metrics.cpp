// SPDX-License-Identifier: Apache-2.0
//
// The metrics of a whole training run (sim/training/training_run.hpp).
#include <cmath>

#include "base/no_number.hpp"
#include "sim/result/metrics.hpp"
#include "sim/result/training_step.hpp"

namespace roofcast::sim {
namespace {

using Run = TrainingRunEstimate;

using base::kNoNumber;

template <auto Value>
double of_run(const ServingEstimate& e) {
  const double value = e.workflow && e.workflow->run ? Value(*e.workflow->run) : kNoNumber;
  return std::isfinite(value) ? value : kNoNumber;  // without failures nothing is between them
}

constexpr std::string_view kValidity =
    "the chance of failures at the rates given, within 1 % of drawn runs. The errors of the step "
    "and of the rates come on top: rates of clusters differ by a factor of ten "
    "(docs/scenarios/run.md)";

constexpr Metric kRunMetrics[] = {
    {.name = "run_s",
     .label = "Run",
     .unit = "s",
     .better = Better::lower,
     .description = "mean time of the whole run: steps, checkpoints, failures, maintenance",
     .formula =
         "start_up + steps x step_s x (1 + stragglers) / progress x (1 + maintenance / every)",
     .validity = kValidity,
     .value = of_run<[](const Run& r) { return r.mean.time.si(); }>,
     .of_training = true,
     .of_run = true},
    {.name = "run_p50_s",
     .label = "Run p50",
     .unit = "s",
     .better = Better::lower,
     .description = "time of the run that half of the runs exceed",
     .formula = "median of a lognormal time with the mean and variance of the process of failures",
     .validity = kValidity,
     .value = of_run<[](const Run& r) { return r.p50.si(); }>,
     .of_training = true,
     .of_run = true},
    {.name = "run_p95_s",
     .label = "Run p95",
     .unit = "s",
     .better = Better::lower,
     .description = "time of the run that one in twenty exceeds",
     .formula =
         "95 % quantile of a lognormal time with the mean and variance of the process of failures",
     .validity = kValidity,
     .value = of_run<[](const Run& r) { return r.p95.si(); }>,
     .of_training = true,
     .of_run = true},
    {.name = "effective_training_time",
     .label = "Effective training time",
     .unit = "",
     .better = Better::higher,
     .description = "steps without interruption over the time of the run (ETTR)",
     .formula = "steps x step_s / run_s",
     .validity = kValidity,
     .value = of_run<[](const Run& r) { return r.ideal / r.mean.time; }>,
     .of_training = true,
     .of_run = true},
    {.name = "interruptions",
     .label = "Interruptions",
     .unit = "",
     .better = Better::lower,
     .description = "unplanned stops of the run",
     .formula = "rate of failures of the job x its time, without waits and maintenance",
     .validity = kValidity,
     .value = of_run<[](const Run& r) { return r.mean.interruptions; }>,
     .of_training = true,
     .of_run = true},
    {.name = "between_failures_s",
     .label = "Between failures",
     .unit = "s",
     .better = Better::higher,
     .description = "mean time between failures of the job (MTTF)",
     .formula = "1 / (rate of failures of a GPU x GPUs)",
     .validity = kValidity,
     .value = of_run<[](const Run& r) { return r.between.si(); }>,
     .of_training = true,
     .of_run = true},
    {.name = "checkpoint_interval_s",
     .label = "Checkpoint interval",
     .unit = "s",
     .better = Better::none,
     .description = "useful time between checkpoints of the run: the given one, or the best",
     .formula = "as given; else where progress is largest, for rare failures sqrt(2 x stall x "
                "between_failures_s)",
     .validity = kValidity,
     .value = of_run<[](const Run& r) { return r.interval.si(); }>,
     .of_training = true,
     .of_run = true},
    {.name = "checkpoint_b",
     .label = "Checkpoint",
     .unit = "B",
     .better = Better::lower,
     .description = "parameters and optimizer states in a checkpoint",
     .formula = "parameters x bytes of a parameter",
     .validity = kValidity,
     .value = of_run<[](const Run& r) { return r.checkpoint.si(); }>,
     .of_training = true,
     .of_run = true},
    {.name = "gpu_hours",
     .label = "GPU-hours",
     .unit = "GPU-h",
     .better = Better::lower,
     .description = "GPU-hours of the run, spare hosts included",
     .formula = "(gpus + GPUs of spare hosts) x run_s / 3600",
     .validity = kValidity,
     .value = of_run<[](const Run& r) { return r.gpu_hours; }>,
     .of_training = true,
     .of_run = true},
    {.name = "run_usd",
     .label = "Cost of the run",
     .unit = "USD",
     .better = Better::lower,
     .description = "cost of the GPUs and spares for the whole run",
     .formula = "USD per second of all GPUs and spares x run_s",
     .validity = kValidity,
     .value = of_run<[](const Run& r) { return r.usd; }>,
     .of_training = true,
     .of_run = true},
    {.name = "run_j",
     .label = "Energy of the run",
     .unit = "J",
     .better = Better::lower,
     .description = "energy of the GPUs and spares in the run, without hosts and cooling",
     .formula = "mean power while the job computes, idle power otherwise, x run_s",
     .validity = kValidity,
     .value = of_run<[](const Run& r) { return r.energy.si(); }>,
     .of_training = true,
     .of_run = true},
    {.name = "run_co2_t",
     .label = "CO2 of the run",
     .unit = "t",
     .better = Better::lower,
     .description = "tonnes of CO2 of the electricity of GPUs, spares, hosts and site in the run",
     .formula = "(run_j + host power x GPU-hours) x PUE x CO2 of the grid",
     .validity = kValidity,
     .value = of_run<[](const Run& r) { return r.co2_t; }>,
     .of_training = true,
     .of_run = true,
     .of_prices = true,
     .needs = {"prices"}},
};

}  // namespace

std::span<const Metric> run_metrics() { return kRunMetrics; }

}  // namespace roofcast::sim
