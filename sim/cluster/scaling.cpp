// SPDX-License-Identifier: Apache-2.0
#include "sim/cluster/scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/integers.hpp"
#include "base/no_number.hpp"
#include "sim/estimate.hpp"
#include "sim/result/training_step.hpp"
#include "sim/scenario/knob.hpp"
#include "sim/scenario/sections.hpp"

namespace roofcast::sim {
namespace {

using base::kNoNumber;

Scenario training_scenario(const base::Node& document) {
  Scenario scenario = read_scenario(document);
  if (!scenario.training.trains() || scenario.post_training.enabled()) {
    throw base::InputError(
        "error: what scales here is the optimizer step of a scenario with `training`, without "
        "`rl`\n");
  }
  return scenario;
}

base::Node scaled(const base::Node& document, const Scenario& s, std::int64_t ranks,
                  Scaling scaling) {
  base::Node scaled = document;
  base::Problems problems;
  const auto set = [&](const char* path, std::int64_t value) {
    set_knob(scaled, base::Source{"more GPUs", fmt::format("{}={}", path, value), {}}, problems);
  };
  const std::int64_t gpus =
      s.deployment.mapping.ranks() / s.deployment.mapping.data_parallel * ranks;
  set("system.chips", std::max(gpus, s.platform.system.scale_up_domain));
  set("deployment.data_parallel", ranks);
  if (scaling == Scaling::weak) {
    // Whole because GPUs are multiples: a rank has as many sequences as before.
    set("training.global_batch",
        base::ceil_div(s.training.global_batch * ranks, s.deployment.mapping.data_parallel));
  }
  if (s.run.enabled() && s.run.spare_hosts) {
    set("run.spare_hosts",
        base::ceil_div(*s.run.spare_hosts * ranks, s.deployment.mapping.data_parallel));
  }
  problems.throw_if_any();
  return scaled;
}

}  // namespace

std::vector<std::int64_t> doubled_gpus(const base::Node& document) {
  std::vector<std::int64_t> counts;
  for (std::int64_t gpus = training_scenario(document).deployment.mapping.ranks();
       gpus <= kMostScaledGpus; gpus *= 2) {
    counts.push_back(gpus);
  }
  return counts;
}

std::vector<ScaledStep> scaled_steps(const base::Node& document,
                                     const std::vector<std::int64_t>& gpus, Scaling scaling) {
  const Scenario own = training_scenario(document);
  const std::int64_t each = own.deployment.mapping.ranks() / own.deployment.mapping.data_parallel;
  std::vector<ScaledStep> steps;
  Workspace workspace;
  double first = kNoNumber;  // tokens per second and GPU
  for (const std::int64_t count : gpus) {
    if (count < each || count % each != 0) {
      throw base::InputError(fmt::format(
          "error: {} GPUs are no multiple of the {} GPUs of a data-parallel rank (tensor x context "
          "x pipeline)\n",
          count, each));
    }
    ScaledStep step;
    step.gpus = count;
    step.document = scaled(document, own, count / each, scaling);
    const Scenario scenario = read_scenario(step.document);
    step.estimate = estimate(view(scenario), workspace);
    step.efficiency = step.run_efficiency = step.exposed = step.jitter = kNoNumber;
    if (step.estimate.fits()) {
      const Workflow& workflow = *step.estimate.workflow;
      const TrainingStep& t = workflow.training;
      const double rate = t.tokens / t.time.si() / base::as_double(count);
      first = std::isnan(first) ? rate : first;
      step.efficiency = rate / first;
      step.exposed = t.exchange / t.time;
      step.jitter = t.jitter > base::Seconds{} ? t.jitter / t.time : kNoNumber;
      if (workflow.run) {
        step.run_efficiency = step.efficiency * (workflow.run->ideal / workflow.run->mean.time);
      }
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace roofcast::sim
