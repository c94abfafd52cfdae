// SPDX-License-Identifier: Apache-2.0
#include "sim/training/post_training.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <span>

#include "base/integers.hpp"
#include "base/packing.hpp"
#include "base/statistics/random.hpp"
#include "sim/iteration/draft_model.hpp"
#include "sim/result/feasibility.hpp"
#include "sim/training/pipeline.hpp"
#include "sim/training/rollout.hpp"
#include "workloads/architecture/parameters.hpp"

namespace roofcast::sim {
namespace {

using base::as_double;
using base::Seconds;
using workloads::Placement;
using workloads::PostTraining;

using Tokens = std::vector<std::int64_t>;

Tokens drawn_lengths(const PostTraining& rl, std::int64_t count) {
  base::Random random(static_cast<std::uint64_t>(rl.seed), "responses");
  Tokens lengths;
  for (std::int64_t i = 0; i < count; ++i) {
    lengths.push_back(workloads::draw(rl.response, random));
  }
  return lengths;
}

// The micro-batches of one optimizer step.
//
//   whole   tokens of each prompt with its response       bins    packed sequences
//   bin     tokens of a packed sequence, at most          count   packed sequences of the whole step
//   mean    tokens of a packed sequence; of the fullest   each    responses of a packed sequence
//           one with pipeline stages, because of padding  steps   optimizer steps
//   batches   of a data-parallel rank: so many that interleaved stages run them (volcengine/verl
//             verl/utils/seqlen_balancing.py, num_batches_divided_by)
MicroBatches packed_batches(const ScenarioView& s, const Tokens& responses) {
  const PostTraining& rl = *s.post_training;
  Tokens whole;
  double sum = 0.0;
  for (const std::int64_t length : responses) {
    whole.push_back(length + rl.prompt_tokens);
    sum += as_double(whole.back());
  }
  const std::int64_t bin = s.training->sequence_length;
  const base::Bins bins = rl.packing == workloads::Packing::in_order
                              ? base::packed_in_order(whole, bin)
                              : base::packed_by_size(whole, bin);
  const auto count = static_cast<double>(bins.size());
  const double mean = s.mapping->pipeline_parallel > 1
                          ? as_double(std::ranges::max_element(bins, {}, &base::Bin::size)->size)
                          : sum / count;
  const double each = static_cast<double>(whole.size()) / count;
  const auto sequences = std::max<std::int64_t>(1, std::llround(each));
  const double steps = as_double(rl.responses) / as_double(s.training->global_batch);
  std::int64_t batches = std::max<std::int64_t>(
      1, std::llround(std::ceil(count / steps / as_double(s.mapping->data_parallel))));
  if (const std::int64_t stages = s.mapping->pipeline_parallel;
      !runs_in_groups(*s.training, stages, batches)) {
    batches = stages * base::ceil_div(batches, stages);
  }
  return {batches, sequences, std::max<std::int64_t>(1, std::llround(mean / as_double(sequences)))};
}

// One replica of the rollout as a scenario of its own.
class RolloutScenario {
 public:
  explicit RolloutScenario(const ScenarioView& s) : view_(s) {
    const PostTraining& rl = *s.post_training;
    traffic_.input_tokens = rl.prompt_tokens;
    traffic_.output_tokens = std::max<std::int64_t>(1, std::llround(workloads::mean(rl.response)));
    traffic_.concurrency = rl.responses;
    traffic_.output = rl.response;
    view_.mapping = &rl.rollout;
    view_.traffic = &traffic_;
    view_.training = nullptr;
    view_.post_training = nullptr;
    draft_ = draft_model_of(view_);
    view_.draft = draft_.get();
  }
  const ScenarioView& view() const { return view_; }

 private:
  workloads::Traffic traffic_;
  ScenarioView view_;
  std::unique_ptr<const DraftModel> draft_;
};

// Time of the slowest replica. Answers are dealt out in turn, those of one prompt together.
Seconds slowest_replica(Rollout& rollout, const PostTraining& rl,
                        std::span<const std::int64_t> lengths) {
  std::vector<Tokens> dealt(static_cast<std::size_t>(rl.replicas));
  const auto samples = static_cast<std::size_t>(rl.samples);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    dealt[i / samples % dealt.size()].push_back(lengths[i]);
  }
  Seconds slowest;
  for (const Tokens& one : dealt) {
    slowest = base::max(slowest, rollout.time(one, rl.prompt_tokens, rl.samples));
  }
  return slowest;
}

// Rollout time of one step. Answers of up to off_policy_steps steps may run at once, and a step then has its share of
// their time. The numbers tried do not depend on the limit, so a higher limit is never slower.
Seconds rollout_time(const ScenarioView& replica, const PostTraining& rl, double capacity) {
  Rollout rollout(replica, capacity);
  const Tokens lengths =
      drawn_lengths(rl, std::max<std::int64_t>(1, rl.off_policy_steps) * rl.responses);
  Seconds least = Seconds::infinity();
  std::int64_t steps = 1;
  do {
    const auto count = static_cast<std::size_t>(steps * rl.responses);
    const Seconds all = slowest_replica(rollout, rl, std::span(lengths).first(count));
    least = base::min(least, all / as_double(steps));
    // 1, 2, 3, 4, 6, 8, 12, 16, …
    steps += std::max<std::int64_t>(1, std::bit_floor(static_cast<std::uint64_t>(steps)) / 2);
  } while (steps <= rl.off_policy_steps);
  return least;
}

// Time to send all weights to every rank of the engine, through the rank's own port. They have the trainer's format. An
// engine with fewer bits casts them on arrival (NVIDIA-NeMo/RL nemo_rl/models/generation/vllm/quantization/fp8.py).
Seconds refit_time(const ScenarioView& s, std::int64_t ranks) {
  const models::Machine& machine = s.platform->machine;
  const base::Bytes weights =
      base::bytes_of(workloads::parameters(*s.model).total(), base::NumberFormat::bf16);
  const bool inside = ranks <= machine.scale_up_domain;
  return ranks > 1 ? weights / (inside ? machine.scale_up : machine.scale_out).bandwidth
                   : Seconds{};
}

// Sets estimate.infeasible, and max_running of one replica.
void check(const ScenarioView& s, const ScenarioView& replica, const MicroBatches& batches,
           ServingEstimate& e) {
  const PostTraining& rl = *s.post_training;
  if (rl.off_policy_steps > 0 && rl.placement == Placement::colocated) {
    e.infeasible = infeasible::Colocated{};
    return;
  }
  if (rl.responses % s.training->global_batch != 0) {
    e.infeasible = infeasible::Responses{rl.responses, s.training->global_batch};
    return;
  }
  if (s.training->micro_batch > 1) {
    e.infeasible = infeasible::PackedBatches{s.training->micro_batch};
    return;
  }
  const std::int64_t longest = rl.prompt_tokens + workloads::longest(rl.response);
  if (longest > s.training->sequence_length) {
    e.infeasible = infeasible::PackedLength{longest, s.training->sequence_length};
    return;
  }
  check_training(s, batches, e);
  if (!e.fits()) {
    return;
  }
  check_runnable(replica, e);
  if (!e.fits()) {
    return;
  }
  e.footprint = footprint_of(replica);
  const Cache cache = cache_of(replica);
  check_memory(cache, e);
  e.max_running = e.footprint.cache / cache.mean_request;
}

}  // namespace

ServingEstimate post_training_estimate(const ScenarioView& s) {
  const PostTraining& rl = *s.post_training;
  const bool split = rl.placement == Placement::split;
  const std::int64_t training_ranks = s.mapping->ranks();
  ServingEstimate e;
  e.provenance = s.platform->system.provenance();
  e.gpus =
      split ? training_ranks + rl.rollout_ranks() : std::max(training_ranks, rl.rollout_ranks());
  const RolloutScenario replica(s);
  const MicroBatches batches = packed_batches(s, drawn_lengths(rl, rl.responses));
  check(s, replica.view(), batches, e);
  if (!e.fits()) {
    return e;
  }
  const auto workflow = std::make_shared<Workflow>();
  workflow->training = training_step(s, batches);
  PostTrainingStep& step = workflow->post_training.emplace();
  const double steps = step.optimizer_steps =
      as_double(rl.responses) / as_double(s.training->global_batch);
  const double capacity = e.max_running * workloads::mean_context(*replica.view().traffic);
  step.rollout = rollout_time(replica.view(), rl, capacity);
  step.logprobs = steps * as_double(rl.logprob_passes) *
                  (rl.logprob_passes > 0 ? forward_passes(s, batches) : Seconds{});
  step.training = steps * workflow->training.time;
  step.refit = refit_time(s, e.gpus);
  step.host = split ? Seconds{} : s.training->trainer.switch_overhead;
  step.time = step.refit + step.host +
              (rl.off_policy_steps > 0 ? base::max(step.rollout, step.trained())
                                       : step.rollout + step.trained());
  step.rollout_gpus = as_double(rl.rollout_ranks());
  step.training_gpus = as_double(training_ranks);
  for (const std::int64_t length : drawn_lengths(rl, rl.responses)) {
    step.response_tokens += as_double(length);
  }
  e.steady = no_steady_state();
  e.spreads = training_spreads(workflow->training.operators_spread, s.training->trainer);
  e.steady.power = base::Watts::from_si(std::numeric_limits<double>::quiet_NaN());
  e.memory = base::max(workflow->training.footprint.total(), e.footprint.limit);
  e.output_rate = step.response_tokens / step.time.si();
  e.workflow = workflow;
  return e;
}

}  // namespace roofcast::sim
