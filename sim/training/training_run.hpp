// SPDX-License-Identifier: Apache-2.0
//
// The run around the optimizer step: how often failures stop it, how long it takes, what it costs.
//
//   steps             given, or tokens / tokens of a step; with `days`, those that are done in them on average. Then their
//                     quantiles are of steps, not of time
//   useful time       steps · ((1 + stragglers) · time of a step + time of an evaluation / steps between two)
//   failures          rate of a cause per GPU · GPUs of the job (sim/training/run_model.hpp has the process)
//   checkpoint        parameters · bytes of a parameter: 2 + 4 + 2·moments of Adam
//     stall           asynchronous: bytes of a GPU / snapshot; otherwise bytes / write
//     save            asynchronous: bytes / write; otherwise 0
//     read            bytes / read
//   interval          whole steps, and no shorter than a save; the best one where none is given
//   tiers             stall: a snapshot; save and read of disks: bytes of a GPU / write, / read; of memory: none. A disk's
//                     write is a stall where checkpoints are not asynchronous. No interval is longer than that of storage
//   restart           time + per_thousand_gpus · GPUs / 1000
//   GPU-hours         time · (GPUs + GPUs of the spare hosts)
//   dollars           dollars per second of the forecast · time · GPUs with spares / GPUs
//   spare host        time and dollars of the same steps, less those with one host more that waits
//   energy            GPUs: mean power of a step while the job computes, idle power otherwise; spares idle
//   CO2               (energy + power of hosts · time) · PUE · CO2 of the grid
//
// A run that shrinks has as many replicas as the deployment has data-parallel ranks, each on its own hosts.
//
// GPUs of a host: those of a scale-up domain, at most 8.
#pragma once

#include "sim/result/serving_estimate.hpp"
#include "sim/result/training_step.hpp"
#include "sim/training/run_model.hpp"

namespace roofcast::sim {

// The process of the scenario's run, with its own interval of checkpoints or the best one. `step` is the time of a step.
RunModel run_model(const ScenarioView& scenario, base::Seconds step, double step_tokens,
                   std::int64_t gpus);

// Without detection and the read of the checkpoint.
base::Seconds restart_time(const workloads::TrainingRun& run, std::int64_t gpus);

// Sets the run of a forecast whose steps and costs are known; estimate.infeasible if it takes more than 100 years.
void add_run(const ScenarioView& scenario, ServingEstimate& estimate);

}  // namespace roofcast::sim
