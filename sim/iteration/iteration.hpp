// SPDX-License-Identifier: Apache-2.0
//
// One iteration of a serving engine: the operators of a mixed batch, added up over the layers of a rank.
//
//   T       = Σ operators + host            one pipeline stage; latency and period are both T
//   latency = from the first to the last stage, transfers between stages included
//   period  = time of the slowest stage: it accepts the next micro-batch that often
//
// Validity
//   Ranks       Tensor, data and expert parallel ranks run in lockstep. The time of one rank is therefore the time of
//               the iteration. Attention-DP ranks are taken to carry prompts in the same iterations, as schedulers that
//               balance them do. Unbalanced ranks stall each other more.
//   Graphs      Decodes without prompts run in a CUDA graph of the next captured size, with rows that nobody needs; beyond
//               the largest, or without graphs, the host launches them operator by operator (serving.cuda_graphs).
//   Launches    The stack hides a share of each kernel's launch behind the kernel before it. The host launches the
//               operators of an iteration with prompts one by one. The GPU waits for a share of these launches
//               (overhead.waited_launches), with latent attention for all. The others delay it where they take longer
//               than its kernels.
//   Host time   It is added once per iteration. A host that works overlapped with the GPU adds only the part that is
//               longer than the iteration.
//   Power       The power of the operators decides the clock of the iteration (models/power.hpp). An iteration that
//               would draw more than the limit is slower: its compute takes longer.
//   Drafts      With speculative decoding, the passes of the draft model (sim/iteration/draft_model.hpp) follow the
//               model's own operators. They are part of the iteration.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "models/cost.hpp"
#include "models/uncertainty.hpp"
#include "sim/iteration/cost_cache.hpp"
#include "sim/iteration/iteration_terms.hpp"
#include "sim/scenario/scenario.hpp"
#include "workloads/graph/graph.hpp"

namespace roofcast::sim {

// The bound of a number: the largest share of its time. `waiting` is waiting behind other prompts. `slots` is waiting
// for one of the sequences that the KV cache or max_sequences allows at once. `arrivals` means that the server waits
// for requests.
enum class Limit : std::uint8_t {
  latency,
  compute,
  memory,
  l2,
  network,
  host,
  waiting,
  slots,
  arrivals,
  stages  // that requests pass before they are sent to the model
};
inline constexpr int kLimits = 10;
std::string_view name(Limit limit);

struct IterationCost {
  base::Seconds latency;
  base::Seconds period;
  base::Seconds latency_host;  // of the latency, the host time that nothing hides
  base::Seconds period_host;   // the same of the period
  std::array<base::Seconds, kLimits> by_limit{};  // adds up to latency
  double clock = 1.0;                             // share of the full clock
  // J, one rank of each stage, above their idle energy. NaN if the TDP is not known.
  base::Joules energy_above_idle;
  models::UncertainSum operators;
  Limit limit() const;
  // 90 % interval of the latency, from the errors of its operators. Host time is taken as exact here.
  models::Spread spread(const models::Uncertainty& uncertainty) const;
};

// The two times of an iteration, for tables of many iterations.
struct IterationTime {
  base::Seconds latency;  // from the first to the last pipeline stage
  base::Seconds period;   // until the first stage takes the next micro-batch
};

class IterationCache;  // sim/iteration/iteration_cache.hpp
class StepCache;       // sim/training/step_cache.hpp

// Buffers that one thread uses again from estimate to estimate.
struct Workspace {
  workloads::Graph graph;
  IterationTerms terms;
  std::optional<CostCache> costs;              // set for many estimates of unchanged machines
  std::shared_ptr<IterationCache> iterations;  // set for many estimates of sections that stay
  std::shared_ptr<StepCache> steps;            // the same, of training
};

// Decoding sequences that an iteration computes, with those that only fill up its CUDA graph.
std::int64_t sequences_run(const ScenarioView& scenario, const workloads::Batch& batch);

IterationCost iteration_cost(const ScenarioView& scenario, const workloads::Batch& batch,
                             Workspace& workspace);
// The times of the same.
IterationTime iteration_time(const ScenarioView& scenario, const workloads::Batch& batch,
                             Workspace& workspace);

// The least times of an iteration with this batch: its host launches, as if the GPU took no time. Zero without prompts.
IterationTime launch_floor(const ScenarioView& scenario, const workloads::Batch& batch,
                           Workspace& workspace);

// Host time of one iteration for which the GPU waits. The GPU is busy for `running`.
base::Seconds host_wait(const workloads::Serving& serving, const workloads::Batch& batch,
                        base::Seconds running);

// The experts compute the tokens of all attention-DP ranks, `all`. So a rank with so many of them is timed as one of this many
// equal ranks.
inline std::int64_t equal_ranks(double all, double tokens, std::int64_t ranks) {
  return std::clamp<std::int64_t>(std::llround(all / tokens), 1, ranks);
}

// One iteration, operator by operator.
struct OperatorLine {
  workloads::Call call;
  models::Cost cost;  // one run
  // All runs at the clock of the iteration. For an overlapped call: what the call that it overlaps does not hide.
  base::Seconds time;
  // Share of the time in which, at the full clock, the mean rank waits for the rank that has most pairs of its experts, which the call is of.
  double straggler = 0.0;
  double power = 0.0;  // share of the time that is beyond the one at the full clock
};
std::vector<OperatorLine> iteration_operators(const ScenarioView& scenario,
                                              const workloads::Batch& batch);
// The same with what estimates share.
std::vector<OperatorLine> iteration_operators(const ScenarioView& scenario,
                                              const workloads::Batch& batch, Workspace& workspace);

}  // namespace roofcast::sim
