// SPDX-License-Identifier: Apache-2.0
#include "sim/training/step_causes.hpp"

#include <memory>

#include "sim/training/exchange.hpp"
#include "sim/training/training.hpp"

namespace roofcast::sim {

void tell_step_causes(const ScenarioView& s, ServingEstimate& estimate) {
  if (!estimate.fits() || estimate.workflow->post_training) {
    return;
  }
  using models::Cause;
  const TrainingStep& step = estimate.workflow->training;
  const MicroBatches batches = micro_batches(s);
  const double passes = s.training->trainer.slowdown * static_cast<double>(batches.count);
  const base::Seconds link = passes * step.sends + step.exchange;
  const Leaves leaves = leaves_domain(s, workloads::training_mapping(*s.model, *s.mapping));
  const base::Seconds straggler = step.straggler + step.jitter;
  CauseSum sum;
  sum.add({{leaves.sends ? Cause::nic : Cause::link, 1.0}}, passes * step.sends);
  sum.add({{leaves.exchange ? Cause::nic : Cause::link, 1.0}}, step.exchange);
  sum.add({{Cause::straggler, 1.0}}, straggler);
  sum.add({{Cause::hbm, 1.0}}, step.optimizer);
  sum.add({{Cause::host, 1.0}}, step.host);
  const base::Seconds rest = step.time - link - straggler - step.optimizer - step.host;
  const PassesOfMicroBatch of = training_passes(s, batches);
  base::Seconds all;
  for (const PassLines& pass : of.passes) {
    all += pass.waits;
    for (const OperatorLine& line : pass.operators) {
      all += line.time;
    }
  }
  const double times = rest / all;
  for (const PassLines& pass : of.passes) {
    sum.add({{Cause::host, 1.0}}, times * pass.waits);
    for (const OperatorLine& line : pass.operators) {
      sum.add(causes_of(line, s.platform->machine), times * line.time);
    }
  }
  estimate.causes = std::make_shared<const Causes>(Causes{{}, {}, {}, sum.shares()});
}

}  // namespace roofcast::sim
