// SPDX-License-Identifier: Apache-2.0
#include "sim/result/causes.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include "models/operators/explained_cost.hpp"
#include "sim/iteration/draft_model.hpp"
#include "sim/iteration/front_models.hpp"
#include "sim/scenario/pools.hpp"

namespace roofcast::sim {
namespace {

using base::Seconds;
using models::Share;

constexpr std::size_t kMostParts = 16;  // of an operator, as a rule
constexpr double kMostHost = 0.999;     // of TTFT: shares of the iterations are told of the rest

void sort_greatest_first(std::vector<Share>& shares) {
  std::stable_sort(shares.begin(), shares.end(),
                   [](const Share& a, const Share& b) { return a.share > b.share; });
}

// Micro-batches of a pipeline that decode at once.
double in_flight(const ScenarioView& s, const SteadyState& steady) {
  return std::clamp(steady.decode_batch, 1.0, static_cast<double>(s.mapping->pipeline_parallel));
}

// An iteration and the passes of the draft model after it, with what each operator is for: explained once for all metrics
// that it is a part of.
class ExplainedIteration {
 public:
  ExplainedIteration(const ScenarioView& s, const workloads::Batch& batch, Workspace& workspace)
      : has_stages_(s.mapping->pipeline_parallel > 1) {
    explain(iteration_, s, batch, 1.0, workspace);
    const IterationCost cost = iteration_cost(s, batch, workspace);
    host_ = cost.by_limit[static_cast<std::size_t>(Limit::host)];
    stages_ = cost.latency - cost.latency_host;
    slowest_ = cost.period - cost.period_host;
    if (s.draft != nullptr) {
      for (const DraftPass& pass : draft_passes(s, batch)) {
        explain(passes_, s.draft->view, pass.batch, static_cast<double>(pass.count), workspace);
      }
    }
    if (runs_passes(s)) {
      const double passes = passes_of(s, batch);
      for (const auto& front : s.front->all) {
        if (!front->apart) {
          explain(passes_, front->view, front->batch, passes, workspace);
        }
      }
    }
  }

  // `times` of it. With several micro-batches in flight, a stage waits for the slowest one: they take that stage longer than
  // one micro-batch takes all stages.
  void add_to(CauseSum& sum, double times, double micro_batches) const {
    add(sum, iteration_, times);
    sum.add({{models::Cause::host, 1.0}}, times * host_);
    if (has_stages_) {
      sum.add({{models::Cause::straggler, 1.0}},
              times * base::max(Seconds{}, micro_batches * slowest_ - stages_));
    }
    add(sum, passes_, times);
  }

 private:
  struct Line {
    std::vector<Share> causes;
    Seconds time;
    double count = 1.0;  // in an iteration
  };

  static void explain(std::vector<Line>& lines, const ScenarioView& of,
                      const workloads::Batch& batch, double count, Workspace& workspace) {
    for (const OperatorLine& line : iteration_operators(of, batch, workspace)) {
      lines.push_back({causes_of(line, of.platform->machine), line.time, count});
    }
  }
  static void add(CauseSum& sum, const std::vector<Line>& lines, double times) {
    for (const Line& line : lines) {
      sum.add(line.causes, times * line.count * line.time);
    }
  }

  bool has_stages_;
  std::vector<Line> iteration_;
  std::vector<Line> passes_;  // of other models
  Seconds host_;
  Seconds stages_;   // all of them, without the host
  Seconds slowest_;  // the slowest of them
};

}  // namespace

std::vector<Share> causes_of(const OperatorLine& line, const models::Machine& machine) {
  models::Anatomy anatomy;
  anatomy.parts.reserve(kMostParts);
  const models::Cost alone = models::cost_of(line.call.op, machine, anatomy);
  anatomy.add(&models::Cost::launch, models::Cause::launch, "hidden",
              line.cost.launch - alone.launch);
  std::vector<Share> shares =
      models::shares_of(line.cost, anatomy, machine.calibration.overlap_exponent);
  const auto take = [&](models::Cause cause, double part) {
    if (part > 0.0) {
      for (Share& share : shares) {
        share.share *= 1.0 - part;
      }
      shares.push_back({cause, part});
      sort_greatest_first(shares);
    }
  };
  take(models::Cause::straggler, line.straggler);
  take(models::Cause::power, line.power);
  return shares;
}

void CauseSum::add(const std::vector<Share>& shares, Seconds time) {
  time_ += time;
  for (const Share& share : shares) {
    of_[static_cast<std::size_t>(share.cause)] += share.share * time;
  }
}

void CauseSum::hold_up(double share) {
  if (share > 0.0) {
    add({{models::Cause::host, 1.0}}, share / (1.0 - share) * time_);
  }
}

std::vector<Share> CauseSum::shares() const {
  std::vector<Share> all;
  for (std::size_t c = 0; c < of_.size(); ++c) {
    if (of_[c] > Seconds{}) {
      all.push_back({static_cast<models::Cause>(c), of_[c] / time_});
    }
  }
  sort_greatest_first(all);
  return all;
}

void tell_serving_causes(const ScenarioView& scenario, ServingEstimate& estimate,
                         Workspace& workspace) {
  const SteadyState& steady = estimate.steady;
  const bool prompts = steady.prefill_iteration.prefill_sequences > 0;
  const bool decodes = steady.decode_iteration.decode_sequences > 0;
  if (!estimate.fits() || estimate.workflow != nullptr || (!prompts && !decodes)) {
    return;
  }
  const auto pools =
      scenario.pools != nullptr ? std::make_unique<PoolScenarios>(scenario) : nullptr;
  const auto draft = draft_model_of(pools ? pools->decode() : scenario);
  ScenarioView decode = pools ? pools->decode() : scenario;
  ScenarioView prefill = pools ? pools->prefill() : scenario;
  const FrontModels front = front_models_of(scenario);
  prefill.front = &front;
  decode.draft = draft.get();
  prefill.draft = pools ? nullptr : draft.get();
  CauseSum ttft;
  CauseSum tpot;
  const auto prefill_stages = static_cast<double>(prefill.mapping->pipeline_parallel);
  const double share = pools && decodes ? 0.0 : decodes ? steady.prefill_share : 1.0;
  std::optional<ExplainedIteration> with_prompts;
  std::optional<ExplainedIteration> alone;
  if (prompts) {
    with_prompts.emplace(prefill, steady.prefill_iteration, workspace);
  }
  if (share < 1.0) {
    alone.emplace(decode, steady.decode_iteration, workspace);
  }
  if (prompts) {
    // One that was planned before the prompt came, if any sequence decodes then.
    const bool plans = scenario.serving->policy.plans_ahead && !pools && prefill_stages == 1.0;
    const double planned = plans && decodes ? std::min(1.0, steady.decode_batch) : 0.0;
    with_prompts->add_to(ttft, 1.0 + planned * share, 1.0);
    if (planned * (1.0 - share) > 0.0) {
      alone->add_to(ttft, planned * (1.0 - share), 1.0);
    }
  }
  if (alone) {
    alone->add_to(tpot, 1.0 - share, in_flight(decode, steady));
  }
  if (share > 0.0 && prompts) {
    with_prompts->add_to(tpot, share, decodes ? in_flight(prefill, steady) : prefill_stages);
  }
  tpot.hold_up(steady.held_up);
  ttft.hold_up(std::min(steady.ttft_host, kMostHost));
  Causes causes{ttft.shares(), tpot.shares(), {}, {}};
  causes.throughput =
      pools && steady.throughput_limit != steady.tpot_limit ? causes.ttft : causes.tpot;
  if (steady.front_end_is_full()) {
    causes.throughput.clear();
  }
  if (pools && steady.ttft_limit == Limit::network) {
    causes.ttft.clear();  // caches that are sent from pool to pool
  }
  estimate.causes = std::make_shared<const Causes>(std::move(causes));
}

namespace {

double share_of(const std::vector<Share>& shares, models::Cause cause) {
  const auto found =
      std::find_if(shares.begin(), shares.end(), [&](const Share& s) { return s.cause == cause; });
  return found != shares.end() ? found->share : 0.0;
}

// What has most of a time. The tensor cores, where they have more than half.
Limited most_of(const std::vector<Share>& shares) {
  const models::Cause cause = models::verdict_of(shares, share_of(shares, models::Cause::tensor));
  return {models::name(cause), share_of(shares, cause), shares};
}

}  // namespace

Limited limited(const ServingEstimate& estimate, std::string_view metric) {
  static const Causes kNone;
  const Causes& causes = estimate.causes != nullptr ? *estimate.causes : kNone;
  if (estimate.workflow != nullptr) {
    return metric.starts_with("step") && !causes.step.empty() ? most_of(causes.step) : Limited{};
  }
  const SteadyState& steady = estimate.steady;
  const bool ttft = metric.starts_with("ttft");
  const bool tpot = metric.starts_with("tpot");
  if ((!ttft && !tpot && !metric.starts_with("throughput")) ||
      (tpot && !(steady.tpot > Seconds{}))) {
    return {};
  }
  const Limit limit = ttft ? steady.ttft_limit : tpot ? steady.tpot_limit : steady.throughput_limit;
  const std::vector<Share>& shares = ttft ? causes.ttft : tpot ? causes.tpot : causes.throughput;
  if (limit == Limit::host) {  // launches in the iterations, or the front end
    return {name(limit), share_of(shares, models::Cause::host), shares};
  }
  if (limit > Limit::host || shares.empty()) {
    return {name(limit), 0.0, limit == Limit::waiting ? shares : std::vector<Share>()};
  }
  return most_of(shares);
}

}  // namespace roofcast::sim
