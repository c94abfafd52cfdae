// SPDX-License-Identifier: Apache-2.0
//
// The draft model of speculative decoding. It runs after each iteration of the model and proposes the next tokens.
//
//   mtp         The modules in the model's `mtp:`. Each is a layer with a join of hidden state and the token before it.
//               If there are fewer modules than draft tokens, the last one runs again, as in engines that load one
//               module (vllm-project/vllm logs it; NVIDIA/TensorRT-LLM@2c64852
//               docs/source/blogs/tech_blog/blog02_DeepSeek_R1_MTP_Implementation_and_Optimization.md, "MTP Eagle";
//               sgl-project/sglang#3582).
//   eagle       One layer with the model's last attention and last feed-forward, and the same join.
//   draft model Another model. Within each attention-DP group it runs on tensor_parallel ranks of its own.
//   ngram       Nothing runs.
//
// MTP modules and EAGLE layers share the model's embedding and head. They are spread over ranks as the model is, within
// a pipeline stage: the last stage runs them. They have the precision of the model, unless serving.speculative sets
// one.
//
// After an iteration that verified g + 1 tokens of D sequences and computed prompts, the draft model runs g passes, one
// after the other. Each pass includes the head:
//
//   first pass     All tokens of the iteration, because the draft model's cache lacks their keys. Rejected tokens are
//                  computed too, as engines pad them. Logits are computed for the last token of each sequence.
//   g − 1 passes   One token of each sequence, sequences with a prompt in the iteration included.
//   tree           With a tree of g levels, the first pass takes g + 1 tokens: at most one path was accepted. The other
//                  passes take `width` tokens.
//
//   g   draft tokens per iteration              D   sequences that decode on a rank
//
// Passes take no host time. TensorRT-LLM captures verification and draft in one CUDA graph (ibid.). The host time of
// other stacks is not published. A sequence also holds the draft model's keys and g more states of recurrent layers:
// one for each token that may be the last accepted one (vllm-project/vllm MambaSpec.num_speculative_blocks).
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

  workloads::Architecture model;     // as one pass computes it
  workloads::Architecture resident;  // as memory holds it: with the layers of all passes
  workloads::Precision precision;
  workloads::Mapping mapping;
  workloads::Serving serving;  // without host time
  ScenarioView view;           // the scenario of one pass
  base::Bytes weights;         // on a rank, added to the model's own
};

// nullptr if there is no draft model to run. If the model lacks the MTP modules, the result has no layers.
std::unique_ptr<const DraftModel> draft_model_of(const ScenarioView& scenario);

// The passes that follow an iteration with `batch`: the first one, then g − 1 equal ones.
struct DraftPass {
  workloads::Batch batch;
  std::int64_t count = 0;
};
std::array<DraftPass, 2> draft_passes(const ScenarioView& scenario, const workloads::Batch& batch);

}  // namespace roofcast::sim
