// SPDX-License-Identifier: Apache-2.0
#include "cli/text/training_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/tables/text_table.hpp"
#include "sim/result/training_step.hpp"

namespace roofcast::cli {
namespace {

void add_time(TextTable& table, const char* part, base::Seconds time, base::Seconds all) {
  if (time.si() > 0.0) {
    table.add({part, display(time.si(), "s"), fmt::format("{:.1f}%", 100.0 * (time / all))});
  }
}

std::string post_training(const std::optional<sim::PostTrainingStep>& step) {
  if (!step) {
    return {};
  }
  TextTable times({"step of post-training", "time", "share", "GPUs"});
  const auto add = [&](const char* part, base::Seconds time, double gpus) {
    times.add({part, display(time.si(), "s"), fmt::format("{:.1f}%", 100.0 * (time / step->time)),
               gpus > 0.0 ? fmt::format("{}", gpus) : std::string()});
  };
  add("rollout", step->rollout, step->rollout_gpus);
  add("log-probabilities", step->logprobs, step->training_gpus);
  add("optimizer steps", step->training, step->training_gpus);
  add("refit", step->refit, 0.0);
  add("host", step->host, 0.0);
  add("all", step->time, 0.0);
  return times.text() + "\n";
}

// Of a run with checkpoints in several places.
std::string checkpoints(const sim::TrainingRunEstimate& run) {
  if (run.tiers.empty()) {
    return {};
  }
  TextTable places({"checkpoints", "every", "failures that go on from there"});
  double rest = 1.0;
  const auto add = [&](const char* place, base::Seconds interval, double share) {
    places.add({place, display(interval.si(), "s"), fmt::format("{:.3g}%", 100.0 * share)});
    rest -= share;
  };
  for (const sim::CheckpointTier& tier : run.tiers) {
    add(tier.place, tier.interval, tier.recovers);
  }
  add("storage", run.interval, std::max(0.0, rest));
  return "\n" + places.text();
}

// The interval beside what textbooks say.
std::string intervals(const sim::TrainingRunEstimate& run) {
  if (!std::isfinite(run.between.si())) {
    return {};
  }
  TextTable table({"useful time between checkpoints", "time", "whole steps"});
  const auto add = [&](const char* rule, base::Seconds interval) {
    table.add({rule, display(interval.si(), "s"), display(std::round(interval / run.step), "")});
  };
  add("of this run", run.interval);
  add("best", run.best_interval);
  add("Young", run.young_interval);
  add("Daly", run.daly_interval);
  add("availability", run.availability_interval);
  return "\n" + table.text();
}

// Where the time of a run goes.
std::string run(const workloads::TrainingRun& of,
                const std::optional<sim::TrainingRunEstimate>& run) {
  if (!run) {
    return {};
  }
  TextTable times({"run", "time", "share"});
  const sim::RunShares& shares = run->mean.shares;
  const auto add = [&](const char* part, double share) {
    if (share > 1e-6) {
      add_time(times, part, share * run->mean.time, run->mean.time);
    }
  };
  add("steps", shares.useful);
  add("stragglers", shares.stragglers);
  add("evaluation", shares.evaluation);
  add("stalls for checkpoints", shares.stalls);
  add("computed again", shares.lost);
  add("detection and restarts", shares.down);
  add(of.shrinks ? "slower without a spare host" : "waits for a spare host", shares.spares);
  add("maintenance", shares.maintenance);
  add("start-up", shares.start_up);
  add("all", 1.0);
  return fmt::format("\n{}{}{}\nFailures: {}\n{}", times.text(), checkpoints(*run), intervals(*run),
                     of.failures.name, run->spare ? spare_text(*run->spare) + "\n" : std::string());
}

}  // namespace

std::string spare_text(const sim::SpareHost& spare) {
  std::string text = "One spare host more would save ";
  text += spare.time > base::second ? fmt::format("{} of the run", display(spare.time.si(), "s"))
                                    : std::string("no time");
  if (!std::isnan(spare.usd)) {
    text += fmt::format(" and {} {}, its own cost paid", spare.usd < 0.0 ? "cost" : "save",
                        display(std::abs(spare.usd), "USD"));
  }
  return text;
}

std::string training_text(const sim::Scenario& s, const sim::ServingEstimate& e) {
  if (e.workflow == nullptr) {
    return {};
  }
  const sim::TrainingStep& t = e.workflow->training;
  TextTable times({"optimizer step", "time", "share"});
  add_time(times, "passes of all micro-batches", t.passes, t.time);
  add_time(times, "  alone: no other micro-batch hides exchanges with experts", t.alone, t.time);
  add_time(times, "  straggler: the mean stage waits for the slowest", t.straggler, t.time);
  add_time(times, "pipeline bubble", t.bubble, t.time);
  add_time(times, "waits for the slowest rank", t.jitter, t.time);
  add_time(times, "gradients and parameters, exposed", t.gradients, t.time);
  add_time(times, "optimizer", t.optimizer, t.time);
  add_time(times, "host", t.host, t.time);
  add_time(times, "all", t.time, t.time);
  TextTable passes({"one micro-batch, slowest stage", "time"});
  passes.add({"forward", display(t.forward.si(), "s")});
  passes.add({"backward", display(t.backward.si(), "s")});
  if (t.sends.si() > 0.0) {
    passes.add({"sends, exposed", display(t.sends.si(), "s")});
  }
  TextTable memory({"memory of the fullest GPU", "bytes"});
  memory.add({"parameters", display(t.footprint.parameters.si(), "B")});
  memory.add({"gradients", display(t.footprint.gradients.si(), "B")});
  memory.add({"optimizer", display(t.footprint.optimizer.si(), "B")});
  memory.add({"activations", display(t.footprint.activations.si(), "B")});
  memory.add({"workspace", display(t.footprint.workspace.si(), "B")});
  return fmt::format("\n{}{}\n{}{}\n{}{}", post_training(e.workflow->post_training), times.text(),
                     passes.text(),
                     t.clock < 1.0 ? fmt::format("(at {:.0f}% of the clock, trainer {})\n",
                                                 100.0 * t.clock, s.training.trainer.name)
                                   : std::string(),
                     memory.text(), run(s.run, e.workflow->run));
}

}  // namespace roofcast::cli
