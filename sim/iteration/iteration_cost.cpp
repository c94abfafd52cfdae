// SPDX-License-Identifier: Apache-2.0
//
// An iteration from its steps (iteration_steps.hpp): with the passes of other models, and with what the points of a sweep
// share.
#include <array>

#include "sim/iteration/draft_model.hpp"
#include "sim/iteration/front_models.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/iteration/iteration_cache.hpp"
#include "sim/iteration/iteration_steps.hpp"
#include "sim/iteration/iteration_sum.hpp"

namespace roofcast::sim {
namespace {

using base::Seconds;

const IterationTerms& terms_of(const ScenarioView& s, const workloads::Batch& batch,
                               Workspace& workspace) {
  auto key = workspace.iterations ? workspace.iterations->key(s, batch) : std::nullopt;
  if (!key) {
    fill(workspace.terms, s, batch, workspace);
    return workspace.terms;
  }
  key->batch.context = 0;
  const auto [terms, known] = workspace.iterations->terms().at(*key);
  if (known && !terms.keeps_context) {
    set_context(terms, s, batch, workspace);
  } else {
    fill(terms, s, batch, workspace);
  }
  return terms;
}

// Adds the passes before the requests whose prompts are computed.
void add_passes(IterationCost& iteration, const ScenarioView& s, const workloads::Batch& batch) {
  if (runs_passes(s)) {
    add(iteration, s.front->beside, passes_of(s, batch), 1.0);
  }
}

// The iteration with what a draft model runs after it.
IterationCost with_draft(const ScenarioView& s, const workloads::Batch& batch,
                         Workspace& workspace) {
  std::array<IterationCost, 2> drafts;
  std::array<double, 2> counts{};
  Seconds drafting{};
  const auto passes = draft_passes(s, batch);
  for (std::size_t i = 0; i < passes.size(); ++i) {
    if (passes[i].count > 0) {
      counts[i] = static_cast<double>(passes[i].count);
      // The sections of a draft model do not stay: nothing of it is kept.
      fill(workspace.terms, s.draft->view, passes[i].batch, workspace);
      drafts[i] = added_up(workspace.terms, s.draft->view, passes[i].batch, {});
      drafting += counts[i] * drafts[i].latency;
    }
  }
  const double ranks = static_cast<double>(s.draft->mapping.stage_ranks()) /
                       static_cast<double>(s.mapping->stage_ranks());
  IterationCost iteration = added_up(terms_of(s, batch, workspace), s, batch, drafting);
  for (std::size_t i = 0; i < passes.size(); ++i) {
    add(iteration, drafts[i], counts[i], ranks);
  }
  return iteration;
}

}  // namespace

IterationTime launch_floor(const ScenarioView& s, const workloads::Batch& batch,
                           Workspace& workspace) {
  if (s.serving->stack.eager_operator <= Seconds{}) {
    return {};
  }
  auto key = workspace.iterations ? workspace.iterations->key(s, batch) : std::nullopt;
  if (!key) {
    return launches_alone(s, batch, workspace);
  }
  key->batch.context = 0;  // launches do not depend on it
  const auto [floor, known] = workspace.iterations->floors().at(*key);
  if (!known) {
    floor = launches_alone(s, batch, workspace);
  }
  return floor;
}

IterationCost iteration_cost(const ScenarioView& s, const workloads::Batch& batch,
                             Workspace& workspace) {
  IterationCost iteration = s.draft == nullptr
                                ? added_up(terms_of(s, batch, workspace), s, batch, {})
                                : with_draft(s, batch, workspace);
  add_passes(iteration, s, batch);
  return iteration;
}

IterationTime iteration_time(const ScenarioView& s, const workloads::Batch& batch,
                             Workspace& workspace) {
  const auto made = [&] {
    const IterationCost cost = iteration_cost(s, batch, workspace);
    return IterationTime{cost.latency, cost.period};
  };
  const auto key = workspace.iterations && s.draft == nullptr && !runs_passes(s)
                       ? workspace.iterations->key(s, batch)
                       : std::nullopt;
  if (!key) {
    return made();
  }
  const auto [time, known] = workspace.iterations->times().at(*key);
  if (!known) {
    time = made();
  }
  return time;
}

}  // namespace roofcast::sim
