// SPDX-License-Identifier: Apache-2.0
#include "workloads/training/training_run.hpp"

#include <numeric>

namespace roofcast::workloads {

std::span<const base::CatalogEntry> embedded_failures();

base::Catalog failure_catalog() { return {"failures", "failure", embedded_failures()}; }

double FailureRates::total() const {
  return std::accumulate(per_thousand_gpu_days.begin(), per_thousand_gpu_days.end(), 0.0);
}

void read(base::Fields& f, FailureRates& failures) {
  failures.id = f.node().reference;
  f.text("name", failures.name, base::optional);
  f.group("per_thousand_gpu_days", [&](base::Fields& g) {
    for (std::size_t i = 0; i < kFailureCauses.size(); ++i) {
      g.number(kFailureCauses[i].name, failures.per_thousand_gpu_days[i], {0.0, 1e3},
               base::optional);
    }
    g.source();
  });
}

namespace {

void read_checkpoint(base::Fields& f, Checkpoints& checkpoint) {
  f.quantity("interval", checkpoint.interval);
  if (f.has("bytes_per_parameter")) {
    f.number("bytes_per_parameter", checkpoint.bytes_per_parameter.emplace(), {0.1, 100.0});
  }
  f.quantity("write", checkpoint.write);
  f.quantity("read", checkpoint.read);
  f.flag("asynchronous", checkpoint.asynchronous, base::optional);
  f.quantity("snapshot", checkpoint.snapshot);
  const auto near = [&](std::string_view place, std::optional<NearCheckpoints>& tier,
                        bool written) {
    f.group(
        place,
        [&](base::Fields& g) {
          tier.emplace();
          g.quantity("interval", tier->interval);
          g.number("recovers", tier->recovers, {0.0, 1.0});
          if (written) {
            g.quantity("write", tier->write.emplace());
            g.quantity("read", tier->read);
          }
        },
        base::optional);
  };
  near("memory", checkpoint.memory, false);
  near("disk", checkpoint.disk, true);
  if (checkpoint.memory && checkpoint.disk &&
      checkpoint.memory->recovers + checkpoint.disk->recovers > 1.0) {
    f.problem("disk", "more than all failures would go on from memory and from disks");
  }
}

void read_length(base::Fields& f, TrainingRun& run) {
  f.number("tokens", run.tokens, {1.0, 1e18}, base::optional);
  f.number("steps", run.steps, {1.0, 1e12}, base::optional);
  f.number("days", run.days, {1e-3, 36'525.0}, base::optional);
  std::string_view told;
  int count = 0;
  for (const std::string_view key : {"tokens", "steps", "days"}) {
    if (f.has(key)) {
      told = key;
      ++count;
    }
  }
  if (count != 1) {
    f.problem(count == 0 ? "tokens" : told, "a run has either tokens, steps or days");
  }
}

}  // namespace

void read(base::Fields& f, TrainingRun& run) {
  read_length(f, run);
  f.group("failures", [&](base::Fields& g) { read(g, run.failures); });
  f.quantity("detection", run.detection, base::not_negative, base::optional);
  f.quantity("silent_detection", run.silent_detection);
  f.group("restart", [&](base::Fields& g) {
    g.quantity("time", run.restart, base::not_negative);
    g.quantity("per_thousand_gpus", run.restart_per_thousand_gpus, base::not_negative,
               base::optional);
  });
  f.quantity("repair", run.repair, base::not_negative, base::optional);
  f.integer("spare_hosts", run.spare_hosts, {0.0, 1e6});
  if (run.spare_hosts && !(run.repair > base::Seconds{})) {
    f.problem("spare_hosts", "spares come back from repair, whose time is missing: repair");
  }
  f.group("checkpoint", [&](base::Fields& g) { read_checkpoint(g, run.checkpoint); });
  f.group(
      "maintenance",
      [&](base::Fields& g) {
        run.maintenance.emplace();
        g.quantity("every", run.maintenance->every);
        g.quantity("time", run.maintenance->time, base::not_negative);
      },
      base::optional);
  f.quantity("start_up", run.start_up, base::not_negative, base::optional);
  if (run.days > 0.0 && !(run.start_up < run.days * 86400.0 * base::second)) {
    f.problem("start_up", "takes all days of the run");
  }
  f.number("stragglers", run.stragglers, {0.0, 10.0}, base::optional);
  f.group(
      "evaluation",
      [&](base::Fields& g) {
        run.evaluation.emplace();
        g.integer("every_steps", run.evaluation->every_steps, {1.0, 1e9});
        g.quantity("time", run.evaluation->time, base::not_negative);
      },
      base::optional);
  f.flag("shrinks", run.shrinks, base::optional);
  if (run.shrinks && !run.spare_hosts) {
    f.problem("shrinks", "a run shrinks when no spare is left: spare_hosts is missing, 0 for none");
  }
}

}  // namespace roofcast::workloads
