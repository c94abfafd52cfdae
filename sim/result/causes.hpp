// SPDX-License-Identifier: Apache-2.0
//
// What the time of a metric is for, in the words of models::Cause.
//
// Every operator of the iterations behind an estimate is explained by its own model (models/operators/anatomy.hpp), as
// `roofcast kernel` explains it. The causes of an iteration are those of its operators, each as long as its operator, and
// the host. A share is an elasticity: a cause with a share of 30 % that gets 1 % shorter makes the time 0.3 % shorter.
//
//   TTFT               an iteration with prompts, and the one that was planned before where a scheduler plans ahead. The
//                      host has what the front end takes before the scheduler and after the iterations, waits for it too
//   TPOT, throughput   the mean iteration: 1 − s decodes alone and s with prompts, s = SteadyState::prefill_share; of two
//                      pools an iteration of the decode pool, and of throughput that of the pool which limits it. Where
//                      tokens wait for the front end, that share of TPOT is the host's; none of throughput where the front
//                      end is full
//
// Those of a training step: sim/training/step_causes.hpp.
//
// Straggler is the time in which ranks wait for the one with most work:
//
//   experts    the mean rank of an expert-parallel group waits for the one with most pairs; the part of each operator
//              beyond the same operator on the mean rank (OperatorLine::straggler)
//   pipeline   stages wait for the slowest one, which has more layers or the head: n·p − l of an iteration, where n
//              micro-batches are in flight, p is the time of the slowest stage, l that of all stages, and launches for
//              which the GPU waits are in both
//
// Power is the time of operators beyond that at the full clock, of all that the power limit slows (models/power.hpp). The other
// causes of an operator are of its time at the full clock. So what the tensor cores take is that at their peak, and power is
// what the time gains without the limit. At the limit all that gets faster lowers the clock: shares are elasticities at
// one clock.
//
// Attention-DP ranks are taken to be balanced (sim/iteration/iteration.hpp): nothing is lost there.
//
// All this takes twice as long as the estimate. A sweep tells it where explains_rows() says so
// (sim/decide/shown_columns.hpp), and of the rows that its answer shows.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "models/operators/anatomy.hpp"
#include "sim/result/serving_estimate.hpp"

namespace roofcast::sim {

// Of one run of an operator in an iteration, where a part of its launch may be hidden; greatest first.
std::vector<models::Share> causes_of(const OperatorLine& line, const models::Machine& machine);

// Causes of several operators, each as long as its operator.
class CauseSum {
 public:
  void add(const std::vector<models::Share>& shares, base::Seconds time);
  void hold_up(double share);                 // so much of all is a wait for the front end
  std::vector<models::Share> shares() const;  // greatest first; they add up to 1

 private:
  std::array<base::Seconds, models::kCauses> of_{};
  base::Seconds time_;
};

// Nothing where something else than kernels takes most of it.
struct Causes {
  std::vector<models::Share> ttft;
  std::vector<models::Share> tpot;
  std::vector<models::Share> throughput;
  std::vector<models::Share> step;  // of training
};

// Sets `causes` of an estimate that serves; `scenario` is the one that was estimated. sim/estimate.hpp has the same of any.
void tell_serving_causes(const ScenarioView& scenario, ServingEstimate& estimate,
                         Workspace& workspace);

// What limits a metric. The word is a cause where kernels limit it and tell_causes() was called, else the name of a
// Limit; it is empty where nothing is told of the metric. The tensor cores limit it only where they have more than half of
// the time.
struct Limited {
  std::string_view by;
  double share = 0.0;  // of the time; 0 where it is not known
  std::vector<models::Share>
      shares;  // greatest first; with `waiting`, of the iterations that are waited for, and the front end
};
Limited limited(const ServingEstimate& estimate, std::string_view metric);

}  // namespace roofcast::sim
