// SPDX-License-Identifier: Apache-2.0
#include "sim/training/training_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/document/notes.hpp"
#include "base/integers.hpp"
#include "base/no_number.hpp"
#include "base/units/unit_text.hpp"
#include "workloads/architecture/parameters.hpp"

namespace roofcast::sim {
namespace {

using base::Bytes;
using base::Seconds;
using workloads::TrainingRun;

constexpr double kThousandGpuDays = 1000.0 * 86400.0;  // in GPU-seconds
constexpr Seconds kLongestRun = 100.0 * 365.25 * 86400.0 * base::second;

struct CheckpointBytes {
  Bytes written;
  Bytes read;  // with the parameters that are not trained
};

CheckpointBytes checkpoint_of(const ScenarioView& s) {
  const workloads::Training& t = *s.training;
  const workloads::ParameterCount count = workloads::parameters(*s.model);
  const std::int64_t modules = s.model->mtp_modules();
  const double predicts = modules == 0 ? 0.0
                                       : base::as_double(std::min(t.predicted_tokens, modules)) /
                                             base::as_double(modules);
  const double model = count.total() + predicts * count.mtp;
  const bool some = t.lora.trains();
  const double trained = some ? workloads::adapter_parameters(t.lora, *s.model) : model;
  const double tables = some ? 0.0 : count.embedding + count.head;
  const double moments = workloads::moments(t, trained, tables) / trained;
  const double each =
      s.run->checkpoint.bytes_per_parameter.value_or(2.0 + 4.0 + moments * t.moment_bytes);
  const Bytes written = trained * each * base::byte;
  return {written, written + (some ? workloads::kHiddenBytes * model : 0.0) * base::byte};
}

// 0 of a run with `days`.
double steps_of(const TrainingRun& run, double step_tokens) {
  return run.steps > 0.0 ? run.steps : std::ceil(run.tokens / step_tokens);
}

Seconds days_of(const TrainingRun& run) { return run.days * 86400.0 * base::second; }

double spare_gpus(const ScenarioView& s) {
  return static_cast<double>(s.run->spare_hosts.value_or(0) * s.platform->system.gpus_of_host());
}

}  // namespace

Seconds restart_time(const TrainingRun& run, std::int64_t gpus) {
  return run.restart + static_cast<double>(gpus) / 1000.0 * run.restart_per_thousand_gpus;
}

// Time of a step, with its share of an evaluation.
Seconds paced_step(const TrainingRun& run, Seconds step) {
  const Seconds evaluation =
      run.evaluation ? run.evaluation->time / static_cast<double>(run.evaluation->every_steps)
                     : Seconds{};
  return (1.0 + run.stragglers) * step + evaluation;
}

namespace {

// Checkpoints are taken between steps.
Seconds whole_steps(Seconds interval, Seconds step) {
  return std::max(1.0, std::ceil(interval / step - 1e-9)) * step;
}

bool is_used(const std::optional<workloads::NearCheckpoints>& near) {
  return near && near->recovers > 0.0;
}

// `bytes`, `snapshot`: of a GPU.
void add_tiers(RunModel& m, const workloads::Checkpoints& checkpoint, const CheckpointBytes& bytes,
               Seconds snapshot, Seconds step) {
  for (const auto& near : {checkpoint.memory, checkpoint.disk}) {
    if (!is_used(near)) {
      continue;
    }
    RunModel::Tier& tier = m.tiers.emplace_back();
    tier.place = near->write ? "the hosts' disks" : "memory of other hosts";
    tier.recovers = near->recovers;
    tier.stall = snapshot;
    if (near->write) {
      (checkpoint.asynchronous ? tier.save : tier.stall) = bytes.written / *near->write;
      tier.read = bytes.read / near->read.value_or(*near->write);
    }
    tier.interval = near->interval ? base::max(*near->interval, tier.save - tier.stall)
                                   : whole_steps(best_interval(m, m.tiers.size() - 1), step);
  }
}

// The best interval of storage that is no shorter than that of a tier.
Seconds storage_interval(const RunModel& m) {
  Seconds best = best_interval(m);
  for (const RunModel::Tier& tier : m.tiers) {
    best = base::max(best, tier.interval);
  }
  return best;
}

// `m` with its tiers, and the intervals of all checkpoints.
RunModel with_intervals(RunModel m, const workloads::Checkpoints& checkpoint,
                        const CheckpointBytes& bytes, Seconds snapshot, Seconds step) {
  add_tiers(m, checkpoint, bytes, snapshot, step);
  const Seconds interval =
      checkpoint.interval ? base::max(*checkpoint.interval, m.save - m.stall) : storage_interval(m);
  m.interval = whole_steps(interval, step);
  for (RunModel::Tier& tier : m.tiers) {
    tier.interval = base::min(tier.interval, m.interval);
  }
  return m;
}

// The same without tiers that make the run longer, such as a disk that stalls longer than storage. One whose interval is
// given stays.
RunModel with_tiers(const RunModel& m, workloads::Checkpoints checkpoint,
                    const CheckpointBytes& bytes, Seconds snapshot, Seconds step) {
  RunModel best = with_intervals(m, checkpoint, bytes, snapshot, step);
  for (const auto near : {&workloads::Checkpoints::memory, &workloads::Checkpoints::disk}) {
    if (!is_used(checkpoint.*near) || (checkpoint.*near)->interval) {
      continue;
    }
    workloads::Checkpoints fewer = checkpoint;
    (fewer.*near).reset();
    RunModel without = with_intervals(m, fewer, bytes, snapshot, step);
    if (forecast(without).mean.time < forecast(best).mean.time) {
      best = std::move(without);
      checkpoint = std::move(fewer);
    }
  }
  return best;
}

}  // namespace

RunModel run_model(const ScenarioView& s, Seconds step, double step_tokens, std::int64_t gpus) {
  const TrainingRun& run = *s.run;
  const workloads::Checkpoints& checkpoint = run.checkpoint;
  const auto all = static_cast<double>(gpus);
  const CheckpointBytes bytes = checkpoint_of(s);
  RunModel m;
  const Seconds paced = paced_step(run, step);
  m.work = run.days > 0.0 ? days_of(run) : steps_of(run, step_tokens) * paced;
  const Seconds restart = restart_time(run, gpus);
  for (std::size_t i = 0; i < workloads::kFailureCauses.size(); ++i) {
    const double rate = run.failures.per_thousand_gpu_days[i] * all / kThousandGpuDays;
    if (rate > 0.0) {
      const bool silent = workloads::kFailureCauses[i].name == "silent";
      m.failures.push_back(
          {rate * base::hertz,
           restart + (silent ? run.silent_detection.value_or(run.detection) : run.detection),
           workloads::kFailureCauses[i].takes_host});
    }
  }
  const base::BytesPerSecond port = checkpoint.snapshot.value_or(
      s.platform->system.chip.host_link().value_or(base::BytesPerSecond::infinity()));
  const Seconds snapshot = bytes.written / all / port;
  const Seconds write = bytes.written / checkpoint.write;
  m.stall = checkpoint.asynchronous ? snapshot : write;
  m.save = checkpoint.asynchronous ? write : Seconds{};
  m.read = bytes.read / checkpoint.read.value_or(checkpoint.write);
  m.spares = run.spare_hosts;
  m.repair = run.repair;
  if (run.shrinks) {
    m.replicas = s.mapping->data_parallel;
    m.replicas_together = workloads::replicas_together(*s.model, *s.mapping);
    m.hosts_of_replica = all / static_cast<double>(m.replicas * s.platform->system.gpus_of_host());
  }
  if (run.maintenance) {
    m.maintenance_every = run.maintenance->every;
    m.maintenance_time = run.maintenance->time;
  }
  m.start_up = run.start_up;
  m = with_tiers(m, checkpoint, {bytes.written / all, bytes.read / all}, snapshot, paced);
  if (run.days > 0.0) {
    m.work = work_within(m, days_of(run)).mean;
  }
  return m;
}

namespace {

// The useful time of the process, told apart.
RunShares shares_of(const TrainingRun& run, RunShares shares, Seconds step) {
  const double steps = shares.useful * (step / paced_step(run, step));
  shares.stragglers = steps * run.stragglers;
  shares.evaluation = shares.useful - steps - shares.stragglers;
  shares.useful = steps;
  return shares;
}

// What takes most of the time that is lost. Of a time without end, whose shares are unknown, it is failures.
infeasible::EndlessRun endless(const RunShares& shares, Seconds between, bool steps_alone) {
  infeasible::EndlessRun endless{between, kLongestRun, {}, {}};
  double most = shares.lost + shares.down + shares.spares;
  const auto add = [&](double share, std::string_view what, std::string_view knobs) {
    if (share > most) {
      most = share;
      endless.most = what;
      endless.knobs = knobs;
    }
  };
  add(steps_alone ? shares.useful : 0.0, "steps", "run.tokens, run.steps and the deployment");
  add(shares.evaluation, "evaluation", "run.evaluation");
  add(shares.stragglers, "stragglers", "run.stragglers");
  add(shares.stalls, "stalls for checkpoints", "run.checkpoint");
  add(shares.maintenance, "maintenance", "run.maintenance");
  add(shares.start_up, "start-up", "run.start_up");
  return endless;
}

// Tonnes, of the electricity of GPUs, their hosts and the site. NaN if a part of it is not known.
double co2_of(const ScenarioView& s, base::Joules gpus, Seconds gpu_time) {
  const auto& host = s.platform->system.host_power;
  if (s.prices == nullptr || !host || !s.prices->pue || !s.prices->co2_g_per_j) {
    return base::kNoNumber;
  }
  return (gpus + *host * gpu_time).si() * *s.prices->pue * *s.prices->co2_g_per_j / base::mega;
}

double planned_stops(const RunModel& m, Seconds time) {
  return m.maintenance_every > Seconds{}
             ? (time - m.start_up) / (m.maintenance_every + m.maintenance_time)
             : 0.0;
}

}  // namespace

void add_run(const ScenarioView& s, ServingEstimate& e) {
  auto workflow = std::make_shared<Workflow>(*e.workflow);
  const Seconds step = workflow->step();
  const double tokens = workflow->step_tokens();
  const RunModel model = run_model(s, step, tokens, e.gpus);
  const RunForecast f = forecast(model);
  const Seconds between = 1.0 / model.rate();
  const RunShares shares = shares_of(*s.run, f.mean.shares, step);
  const Seconds paced = paced_step(*s.run, step);
  const double steps = s.run->days > 0.0 ? model.work / paced : steps_of(*s.run, tokens);
  const Seconds ideal = steps * step;
  if (!(steps >= 1.0)) {
    e.infeasible = infeasible::ShortRun{days_of(*s.run), paced, between};
    return;
  }
  if (!(f.mean.time < kLongestRun)) {
    e.infeasible = endless(shares, between, ideal > kLongestRun);
    return;
  }
  TrainingRunEstimate& r = workflow->run.emplace();
  r.ideal = ideal;
  r.mean = {f.mean.time, f.mean.interruptions, shares};
  r.p50 = f.p50;
  r.p95 = f.p95;
  r.tokens = steps * tokens;
  r.tokens_p50 = r.tokens_p5 = base::kNoNumber;
  if (s.run->days > 0.0) {
    const WorkWithin done = work_within(model, days_of(*s.run));
    r.p50 = r.p95 = r.mean.time;
    r.tokens_p50 = done.p50 / paced * tokens;
    r.tokens_p5 = done.p5 / paced * tokens;
  }
  r.between = between;
  r.planned_stops = planned_stops(model, r.mean.time);
  r.step = paced;
  r.interval = model.interval;
  if (const auto& given = s.run->checkpoint.interval; given && *given < model.save - model.stall) {
    base::add_note(
        fmt::format("run.checkpoint.interval: {} is shorter than a write takes, {}; checkpoints "
                    "are taken every "
                    "{}",
                    base::format_quantity(*given), base::format_quantity(model.save),
                    base::format_quantity(model.interval)));
  }
  const auto told = static_cast<std::size_t>(is_used(s.run->checkpoint.memory)) +
                    static_cast<std::size_t>(is_used(s.run->checkpoint.disk));
  if (model.tiers.size() < told) {
    base::add_note(
        "run.checkpoint: the run is shorter without a tier of checkpoints, which is left out; "
        "with an interval of its own it is used");
  }
  r.best_interval = whole_steps(storage_interval(model), paced);
  const TextbookIntervals textbook = textbook_intervals(model);
  r.young_interval = textbook.young;
  r.daly_interval = textbook.daly;
  r.availability_interval = textbook.availability;
  for (const RunModel::Tier& tier : model.tiers) {
    r.tiers.push_back({tier.place, tier.recovers, tier.interval});
  }
  r.checkpoint = checkpoint_of(s).written;
  const double gpus = static_cast<double>(e.gpus) + spare_gpus(s);
  r.gpu_hours = gpus * r.mean.time.si() / 3600.0;
  const auto usd = [&](double all, Seconds time) {
    return e.economics.usd_per_second * all / static_cast<double>(e.gpus) * time.si();
  };
  r.usd = usd(gpus, r.mean.time);
  if (model.spares) {
    RunModel more = model;
    ++*more.spares;
    const Seconds time = forecast(more).mean.time;
    const auto host = static_cast<double>(s.platform->system.gpus_of_host());
    r.spare = {r.mean.time - time, r.usd - usd(gpus + host, time)};
  }
  const double computes =
      shares.useful + shares.stragglers + shares.evaluation + shares.lost + shares.stalls;
  const base::Watts idle = s.platform->machine.power.rest();
  r.energy = r.mean.time *
             (static_cast<double>(e.gpus) * (computes * e.steady.power + (1.0 - computes) * idle) +
              spare_gpus(s) * idle);
  r.co2_t = co2_of(s, r.energy, gpus * r.mean.time);
  e.workflow = workflow;
}

}  // namespace roofcast::sim
