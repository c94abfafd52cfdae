// SPDX-License-Identifier: Apache-2.0
//
// What drafts the tokens of speculative decoding: a model beside the model, with steps of its own.
//
//   mtp         the modules of the model's `mtp:`, each a layer with a join of hidden state and token before it; where
//               there are fewer than draft tokens the last one runs again, as engines do that are given one module
//               (vllm-project/vllm logs it; NVIDIA/TensorRT-LLM@2c64852
//               docs/source/blogs/tech_blog/blog02_DeepSeek_R1_MTP_Implementation_and_Optimization.md, "MTP Eagle";
//               sgl-project/sglang#3582)
//   eagle       one layer with the model's last attention and last feed-forward, and the same join
//   draft model another model, on tensor_parallel ranks of its own among each attention-DP group's
//   ngram       nothing to run
//
// Modules and EAGLE layers share the model's embedding and head and are spread as the model is, within a pipeline
// stage: the last one runs them. All is in the precision of the model unless serving.speculative has one.
//
// After a step that verified g + 1 tokens of D sequences, and computed prompts, a draft takes g passes one after the
// other, each with the head:
//
//   first pass     all the tokens of the step, whose keys its cache lacks (rejected ones are computed along, as
//                  engines pad them), logits of each sequence's last token
//   g − 1 passes   one token of each sequence, those whose prompts were in the step among them; of a tree with g levels
//                  the first pass takes g + 1 tokens, what may have been kept, and the others `width`
//
// Passes take no host time of their own: TensorRT-LLM captures verification and draft in one graph (ibid.), and
// what other stacks' hosts take is not published. What sequences hold beside: the draft's keys, and g more states
// of recurrent layers, one for each token that may be the last accepted one (vllm-project/vllm
// MambaSpec.num_speculative_blocks).
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "sim/scenario/scenario.hpp"
#include "workloads/graph/graph.hpp"

namespace roofcast::sim {

struct DraftModel {
  DraftModel() = default;
  DraftModel(const DraftModel&) = delete;  // the view points into it
  DraftModel& operator=(const DraftModel&) = delete;

  workloads::Architecture model;     // of one pass
  workloads::Architecture resident;  // with the layers of all passes
  workloads::Precision precision;
  workloads::Mapping mapping;
  workloads::Serving serving;  // without host time
  ScenarioView view;           // of a pass
  base::Bytes weights;         // on a rank, beside the model's
};

// nullptr where nothing runs beside the model. Modules that the model lacks make a draft without layers.
std::unique_ptr<const DraftModel> draft_model_of(const ScenarioView& scenario);

// The passes that follow a step.
struct DraftPass {
  workloads::Batch batch;
  std::int64_t count = 0;
};
std::array<DraftPass, 2> draft_passes(const ScenarioView& scenario, const workloads::Batch& batch);

}  // namespace roofcast::sim
