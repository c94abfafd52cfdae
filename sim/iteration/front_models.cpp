// SPDX-License-Identifier: Apache-2.0
#include "sim/iteration/front_models.hpp"

#include "models/footprint.hpp"
#include "sim/iteration/iteration_sum.hpp"
#include "workloads/traffic/agents.hpp"

namespace roofcast::sim {

FrontPass::FrontPass(const ScenarioView& s, const workloads::FrontModel& model)
    : traffic{model.tokens, 1, 1, 0}, serving(*s.serving), apart(model.servers > 0) {
  serving.speculation = {};
  serving.overlap = {};
  batch.prefill_sequences = model.sequences;
  batch.prefill_tokens = model.tokens;
  view = {s.platform, &*model.model, &*model.precision, &mapping, &serving, &traffic};
}

FrontModels front_models_of(const ScenarioView& s) {
  FrontModels r;
  if (s.traffic == nullptr || s.traffic->agents == nullptr) {
    return r;
  }
  Workspace workspace;  // of its own: what others keep of iterations is of sections that stay
  const workloads::Agents& agents = s.traffic->agents->agents;
  const double ranks = 1.0 / static_cast<double>(s.mapping->stage_ranks());
  const auto add_model = [&](const std::optional<workloads::FrontModel>& model) {
    if (!model) {
      return;
    }
    const auto front = std::make_shared<const FrontPass>(s, *model);
    r.all.push_back(front);
    const IterationCost pass = iteration_cost(front->view, front->batch, workspace);
    r.stages.push_back({{pass.latency, 0.0}, model->servers});
    if (!front->apart) {
      add(r.beside, pass, 1.0, ranks);
      ++r.passes;
      r.weights += models::weight_bytes(*model->model, *model->precision, {});
    }
  };
  add_model(agents.embedder);
  r.stages.insert(r.stages.end(), agents.stages.begin(), agents.stages.end());
  add_model(agents.reranker);
  return r;
}

}  // namespace roofcast::sim
