// SPDX-License-Identifier: Apache-2.0
#include "sim/training/training_run.hpp"

#include <algorithm>
#include <cmath>

#include "base/no_number.hpp"
#include "workloads/architecture/parameters.hpp"

namespace roofcast::sim {
namespace {

using base::Bytes;
using base::Seconds;
using workloads::TrainingRun;

constexpr double kThousandGpuDays = 1000.0 * 86400.0;  // in GPU-seconds
constexpr Seconds kLongestRun = 100.0 * 365.25 * 86400.0 * base::second;

Bytes checkpoint_of(const ScenarioView& s) {
  const workloads::ParameterCount count = workloads::parameters(*s.model);
  const double all = count.total() + count.mtp;
  const double moments = workloads::moments(*s.training, all, count.embedding + count.head) / all;
  const double each = s.run->checkpoint.bytes_per_parameter.value_or(
      2.0 + 4.0 + moments * s.training->moment_bytes);
  return all * each * base::byte;
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

// `bytes`, `snapshot`: of a GPU.
void add_tiers(RunModel& m, const workloads::Checkpoints& checkpoint, Bytes bytes, Seconds snapshot,
               Seconds step) {
  for (const auto& near : {checkpoint.memory, checkpoint.disk}) {
    if (!near || near->recovers <= 0.0) {
      continue;
    }
    RunModel::Tier& tier = m.tiers.emplace_back();
    tier.place = near->write ? "the hosts' disks" : "memory of other hosts";
    tier.recovers = near->recovers;
    tier.stall = snapshot;
    if (near->write) {
      (checkpoint.asynchronous ? tier.save : tier.stall) = bytes / *near->write;
      tier.read = bytes / near->read.value_or(*near->write);
    }
    tier.interval = near->interval ? base::max(*near->interval, tier.save - tier.stall)
                                   : whole_steps(best_interval(m, m.tiers.size() - 1), step);
  }
}

}  // namespace

RunModel run_model(const ScenarioView& s, Seconds step, double step_tokens, std::int64_t gpus) {
  const TrainingRun& run = *s.run;
  const workloads::Checkpoints& checkpoint = run.checkpoint;
  const auto all = static_cast<double>(gpus);
  const Bytes bytes = checkpoint_of(s);
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
  const Seconds snapshot = bytes / all / port;
  m.stall = checkpoint.asynchronous ? snapshot : bytes / checkpoint.write;
  m.save = checkpoint.asynchronous ? bytes / checkpoint.write : Seconds{};
  m.read = bytes / checkpoint.read.value_or(checkpoint.write);
  m.spares = run.spare_hosts;
  m.repair = run.repair;
  if (run.shrinks) {
    m.replicas = s.mapping->data_parallel;
    m.hosts_of_replica = all / static_cast<double>(m.replicas * s.platform->system.gpus_of_host());
  }
  if (run.maintenance) {
    m.maintenance_every = run.maintenance->every;
    m.maintenance_time = run.maintenance->time;
  }
  m.start_up = run.start_up;
  add_tiers(m, checkpoint, bytes / all, snapshot, paced);
  const Seconds interval =
      checkpoint.interval ? base::max(*checkpoint.interval, m.save - m.stall) : best_interval(m);
  m.interval = whole_steps(interval, paced);
  for (RunModel::Tier& tier : m.tiers) {
    tier.interval = base::min(tier.interval, m.interval);
  }
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
  const double tokens = workflow->training.tokens;
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
  r.best_interval = whole_steps(best_interval(model), paced);
  const TextbookIntervals textbook = textbook_intervals(model);
  r.young_interval = textbook.young;
  r.daly_interval = textbook.daly;
  r.availability_interval = textbook.availability;
  for (const RunModel::Tier& tier : model.tiers) {
    r.tiers.push_back({tier.place, tier.recovers, tier.interval});
  }
  r.checkpoint = checkpoint_of(s);
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
