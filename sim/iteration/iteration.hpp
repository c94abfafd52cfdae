// SPDX-License-Identifier: Apache-2.0
//
// One iteration of a serving engine: the operators of a mixed batch, added up over the ranks'
// layers.
//
// Tensor, data and expert parallel ranks run in lockstep, so one rank's time is the step's; attention-DP
// ranks are taken to carry prompts in the same passes, as schedulers that balance them do (unbalanced
// ones stall each other more). With
// pipeline stages a micro-batch takes `latency` from first to last stage, and the slowest stage
// accepts the next one every `period`; without them the two are equal. Of each kernel's launch the stack's
// share passes behind the kernel before. An iteration with prompts takes at least what the host needs to
// launch its operators one by one. Host time is added once an iteration, or what of it is longer
// than the iteration where the host works beside the GPU. What the operators draw decides the clock of the step (models/power.hpp): a step that would
// draw more than the chip holds is slower by what its compute takes longer.
//
// With speculative decoding the passes of the draft (sim/iteration/draft_model.hpp) follow the step and are part of it.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "models/cost.hpp"
#include "models/uncertainty.hpp"
#include "sim/iteration/cost_cache.hpp"
#include "sim/scenario/scenario.hpp"
#include "workloads/graph/graph.hpp"

namespace roofcast::sim {

// What limits a number: the largest share of the time it is made of. waiting: behind other prompts;
// slots: for one of the sequences that the KV cache or max_sequences allows at once; arrivals: for requests.
enum class Limit : std::uint8_t {
  latency,
  compute,
  memory,
  l2,
  network,
  host,
  waiting,
  slots,
  arrivals
};
inline constexpr int kLimits = 9;
std::string_view name(Limit limit);

struct IterationCost {
  base::Seconds latency;
  base::Seconds period;
  std::array<base::Seconds, kLimits> by_limit{};  // adds up to latency
  double clock = 1.0;                             // of the full one
  // Of one rank of each stage, beyond what they draw idle; NaN where the TDP is not known.
  base::Joules energy_above_idle;
  models::UncertainSum operators;
  Limit limit() const;
  // Of the latency, from the errors of its operators; host time has none here.
  models::Spread spread(const models::Uncertainty& uncertainty) const;
};

// Buffers one thread reuses from estimate to estimate.
struct Workspace {
  workloads::Graph graph;
  std::optional<CostCache> costs;  // for many estimates of machines that stay as they are
};

IterationCost iteration_cost(const ScenarioView& scenario, const workloads::Batch& batch,
                             Workspace& workspace);

// The latency and period, and nothing else, of an iteration with such a batch on a GPU that takes no time; zero without prompts.
IterationCost launch_floor(const ScenarioView& scenario, const workloads::Batch& batch,
                           Workspace& workspace);

// Host time of one iteration that the GPU, which runs for `running` of it, waits for.
base::Seconds host_wait(const workloads::Serving& serving, const workloads::Batch& batch,
                        base::Seconds running);

// The same, operator by operator.
struct OperatorLine {
  workloads::Call call;
  models::Cost cost;   // of one run
  base::Seconds time;  // of all runs at the step's clock, beyond the call it runs beside
};
std::vector<OperatorLine> iteration_operators(const ScenarioView& scenario,
                                              const workloads::Batch& batch);

}  // namespace roofcast::sim
