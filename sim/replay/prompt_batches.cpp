// SPDX-License-Identifier: Apache-2.0
#include "sim/replay/prompt_batches.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/integers.hpp"
#include "sim/result/feasibility.hpp"

namespace roofcast::sim {
namespace {

using base::as_double;

ScenarioView with_draft(ScenarioView scenario, const DraftModel* draft) {
  scenario.draft = draft;
  return scenario;
}

}  // namespace

Iteration iteration_of(std::span<const std::int64_t> prompts) {
  Iteration iteration;
  double attended = 0.0;  // Σ p²/2
  for (const std::int64_t tokens : prompts) {
    iteration.prompt_tokens += tokens;
    attended += 0.5 * as_double(tokens) * as_double(tokens);
  }
  iteration.prompts = static_cast<std::int64_t>(prompts.size());
  const double all = as_double(iteration.prompt_tokens);
  iteration.cached = std::max(0.0, attended / all - 0.5 * all / as_double(iteration.prompts));
  return iteration;
}

PromptBatches::PromptBatches(const ScenarioView& scenario)
    : draft_(draft_model_of(scenario)),
      whole_(with_draft(scenario, draft_.get())),
      pools_(whole_.pools == nullptr ? std::nullopt
                                     : std::optional<PoolScenarios>(std::in_place, whole_)),
      view_(pools_ ? pools_->prefill() : whole_),
      iterations_(view_) {}

std::string PromptBatches::misfit(std::int64_t tokens, std::int64_t longest) const {
  if (tokens > most_tokens()) {
    return fmt::format(
        "an iteration of the engine has at most {} tokens (serving.max_tokens_per_iteration), not "
        "{}",
        most_tokens(), tokens);
  }
  const workloads::Traffic prompt{longest, 1, 1, 0};
  ScenarioView one = view_;
  one.traffic = &prompt;
  ServingEstimate fit;
  fit.gpus = gpus_of(whole_);
  check_runnable(one, fit);
  if (fit.fits()) {
    fit.footprint = footprint_of(view_);
    check_memory(cache_of(one), fit);
  }
  return fit.fits() ? "" : reason(fit);
}

PromptBatches::Times PromptBatches::times(std::span<const Iteration> batches) {
  Times times;
  times.batches.reserve(batches.size());
  const auto ranks = static_cast<std::size_t>(view_.mapping->data_parallel);
  std::vector<base::Seconds> ends(static_cast<std::size_t>(view_.mapping->pipeline_parallel));
  base::Seconds stage_free;
  for (std::size_t first = 0; first < batches.size(); first += ranks) {
    const std::size_t count = std::min(ranks, batches.size() - first);
    const IterationTime time = iterations_(batches.subspan(first, count));
    base::Seconds& own_end = ends[first / ranks % ends.size()];
    const base::Seconds start = base::max(stage_free, own_end);
    own_end = start + time.latency;
    stage_free = start + time.period;
    times.all = base::max(times.all, own_end);
    times.batches.insert(times.batches.end(), count, time.latency);
  }
  return times;
}

}  // namespace roofcast::sim
