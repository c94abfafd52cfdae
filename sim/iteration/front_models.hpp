// SPDX-License-Identifier: Apache-2.0
//
// Models that read something for each request before its prompt is sent: an embedder and a reranker
// (traffic.agents.embedder, traffic.agents.reranker).
//
// One pass computes all their sequences of a request at once, on one GPU of the scenario's chip, under the scenario's
// stack. It has the host time of an iteration with as many prompts.
//
//   with `servers`      so many GPUs of their own: a stage whose time is that of a pass (workloads/traffic/requests.hpp).
//                       They are not among the GPUs of the scenario
//   without `servers`   on one GPU of a replica of the model. A pass begins between two iterations, and the next one waits
//                       for it. Its weights stand beside the model's, and leave less memory for the KV cache
//
// A closed form adds a pass to the prompt of its request: an iteration that computes n of the N tokens that a request
// computes takes n/N of a pass longer. A simulation runs passes by themselves.
//
// Not modelled: passes of several requests at once; memory of a pass's activations.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/iteration/iteration.hpp"
#include "workloads/traffic/front_model.hpp"
#include "workloads/traffic/requests.hpp"

namespace roofcast::sim {

// The pass of one model, as an iteration: all its sequences of a request.
struct FrontPass {
  FrontPass(const ScenarioView& scenario, const workloads::FrontModel& model);
  FrontPass(const FrontPass&) = delete;  // the view points into it
  FrontPass& operator=(const FrontPass&) = delete;

  workloads::Mapping mapping;  // one GPU
  workloads::Traffic traffic;
  workloads::Serving serving;
  workloads::Batch batch;
  ScenarioView view;
  bool apart = false;  // on GPUs of its own
};

struct FrontModels {
  // What every request passes, in this order: embedder, the stages of the scenario, reranker. With the times of passes.
  std::vector<workloads::Stage> stages;
  std::vector<std::shared_ptr<const FrontPass>> all;
  IterationCost beside;     // the passes of a request on the GPUs of the model
  std::int64_t passes = 0;  // of these
  base::Bytes weights;      // on a rank, of these
};

// Whether the iterations of prompts have passes.
inline bool runs_passes(const ScenarioView& s) { return s.front != nullptr && s.front->passes > 0; }

// Passes in an iteration with these prompts.
inline double passes_of(const ScenarioView& s, const workloads::Batch& batch) {
  return static_cast<double>(batch.prefill_sequences * batch.prefill_tokens) /
         static_cast<double>(s.traffic->input_tokens - s.traffic->cached_tokens);
}

// Of a scenario without agents, it has nothing.
FrontModels front_models_of(const ScenarioView& scenario);

}  // namespace roofcast::sim
