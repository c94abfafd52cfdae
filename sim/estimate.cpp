// SPDX-License-Identifier: Apache-2.0
#include "sim/estimate.hpp"

#include <algorithm>
#include <cmath>

#include "base/cancellation.hpp"
#include "sim/iteration/draft_model.hpp"
#include "sim/iteration/front_models.hpp"
#include "sim/result/causes.hpp"
#include "sim/result/costs.hpp"
#include "sim/result/feasibility.hpp"
#include "sim/result/parent_figures.hpp"
#include "sim/serving/agents.hpp"
#include "sim/serving/disaggregated.hpp"
#include "sim/serving/lockstep.hpp"
#include "sim/serving/sampled_loop.hpp"
#include "sim/serving/server.hpp"
#include "sim/training/post_training.hpp"
#include "sim/training/step_causes.hpp"
#include "sim/training/training.hpp"
#include "sim/training/training_run.hpp"
#include "workloads/traffic/within_context.hpp"

namespace roofcast::sim {

namespace {

SteadyState without_agents(const ScenarioView& s, double max_running, Workspace& workspace) {
  if (stay_in_step(s)) {
    const SteadyState in_step = lockstep(s, max_running, workspace);
    // At the limit of the front end, who is in step with whom depends on each message.
    if (s.scans || !in_step.front_end_is_full()) {
      return in_step;
    }
  }
  return sampled_loop(s, std::max(1.0, std::floor(max_running)), {}, workspace);
}

// A deployment in which every replica computes both prompts and answers.
ServingEstimate aggregated_estimate(const ScenarioView& s, Workspace& workspace) {
  ServingEstimate e;
  e.provenance = s.platform->system.provenance();
  e.gpus = s.serving->replicas * s.mapping->ranks();
  check_runnable(s, e);
  if (!e.fits()) {
    return e;
  }
  e.footprint = footprint_of(s);
  const Cache cache = cache_of(s);
  check_memory(cache, e);
  if (!e.fits()) {
    return e;
  }
  e.max_running = sequences_in(e.footprint.cache, s);
  e.steady = s.traffic->agents ? agents_steady_state(s, {s, cache.mean_request}, e, workspace)
                               : without_agents(s, e.max_running, workspace);
  check_load(s, e);
  if (!e.fits()) {
    return e;
  }
  e.spreads = spreads_of(s, e.steady, s.serving->stack.errors);
  // Agents share a part of their contexts, which is there once.
  e.memory =
      e.footprint.fixed() + base::min(e.steady.running * cache.mean_request, e.footprint.cache);
  return e;
}

}  // namespace

ServedScenario::ServedScenario(const ScenarioView& scenario) : view(scenario) {
  if (view.training != nullptr) {
    return;
  }
  if (view.accuracy != nullptr && view.accuracy->samples > 1 && view.serving->policy.prefix_cache) {
    traffic_ = sampled_traffic(*view.traffic, view.accuracy->samples);
    view.traffic = &traffic_;
  }
  beyond_context = workloads::share_beyond(*view.traffic, view.model->max_context);
  if (beyond_context > 0.0) {
    traffic_ = workloads::within_context(*view.traffic, view.model->max_context, beyond_context);
    view.traffic = &traffic_;
  }
}

void add_costs(const ScenarioView& s, ServingEstimate& e, Workspace& workspace) {
  e.joules_per_token = static_cast<double>(e.gpus) * e.steady.power.si() / e.output_rate;
  e.economics = economics_of(s, e, workspace);
  e.usd_per_mtok = e.economics.usd_per_second / e.output_rate * base::mega;
  e.task.usd = e.economics.usd_per_second / e.task.per_second;
}

void tell_causes(const ScenarioView& scenario, ServingEstimate& estimate) {
  Workspace workspace;
  tell_causes(scenario, estimate, workspace);
}

void tell_causes(const ScenarioView& scenario, ServingEstimate& estimate, Workspace& workspace) {
  if (estimate.workflow != nullptr) {
    tell_step_causes(scenario, estimate);
  } else {
    tell_serving_causes(scenario, estimate, workspace);
  }
}

ServingEstimate estimate(const ScenarioView& scenario, Workspace& workspace) {
  base::throw_if_cancelled();
  const ServedScenario served(scenario);
  ScenarioView s = served.view;
  const std::unique_ptr<const DraftModel> draft =
      s.pools == nullptr && s.training == nullptr ? draft_model_of(s) : nullptr;
  s.draft = draft.get();
  const FrontModels front = front_models_of(s);
  s.front = &front;
  ServingEstimate e = s.post_training != nullptr ? post_training_estimate(s)
                      : s.training != nullptr    ? training_estimate(s, workspace)
                      : s.pools != nullptr       ? disaggregated_estimate(s, workspace)
                                                 : aggregated_estimate(s, workspace);
  if (!e.fits()) {
    return e;
  }
  if (e.workflow == nullptr) {
    e.beyond_context = served.beyond_context;
    e.steady.attainment *= 1.0 - served.beyond_context;
    e.score = score_of(s);
    e.output_rate = e.steady.requests_per_second * static_cast<double>(s.traffic->output_tokens);
  }
  add_costs(s, e, workspace);
  e.parent_figures = parent_figures_of(s);
  if (s.run != nullptr && e.workflow != nullptr) {
    add_run(s, e);
  }
  return e;
}

}  // namespace roofcast::sim
