// SPDX-License-Identifier: Apache-2.0
#include "sim/iteration/draft_model.hpp"

#include <algorithm>

#include "models/footprint.hpp"

namespace roofcast::sim {
namespace {

using workloads::Architecture;
using workloads::DraftMethod;
using workloads::LayerGroup;

// The model without its layers: embedding and head.
Architecture shell_of(const Architecture& model) {
  Architecture draft = model;
  draft.layers.clear();
  draft.mtp.clear();
  draft.vision.clear();
  draft.interleaved = false;
  draft.joins_token = true;
  return draft;
}

std::vector<LayerGroup> eagle_layer(const Architecture& model) {
  LayerGroup layer;
  layer.count = 1;
  layer.mixer = workloads::Mixer::none;
  layer.ffn = workloads::Ffn::none;
  for (const LayerGroup& group : model.layers) {
    if (workloads::attends(group.mixer)) {
      layer.mixer = workloads::Mixer::attention;
      layer.kv_heads = group.kv_heads;
    }
    if (group.ffn != workloads::Ffn::none) {
      layer.ffn = group.ffn;
      layer.intermediate = group.intermediate;
    }
  }
  return {layer};
}

std::vector<LayerGroup> modules(const Architecture& model, std::int64_t most) {
  std::vector<LayerGroup> layers;
  for (LayerGroup group : model.mtp) {
    group.count = std::min(group.count, most);
    most -= group.count;
    if (group.count > 0) {
      layers.push_back(group);
    }
  }
  return layers;
}

// The weights of the join are 16-bit and whole on every rank (sgl-project/sglang
// python/sglang/srt/models/deepseek_nextn.py).
base::Bytes join_bytes(const Architecture& model, const workloads::Precision& precision) {
  const auto hidden = static_cast<double>(model.hidden);
  return base::bytes_of(2.0 * hidden * hidden, precision.plain.weights);
}

base::Bytes layer_bytes(const DraftModel& draft, const Architecture& shell) {
  base::Bytes sum = models::weight_bytes(draft.resident, draft.precision, draft.mapping) -
                    models::weight_bytes(shell, draft.precision, draft.mapping);
  for (const LayerGroup& group : draft.resident.layers) {
    sum += static_cast<double>(group.count) * join_bytes(shell, draft.precision);
  }
  return sum;
}

}  // namespace

std::unique_ptr<const DraftModel> draft_model_of(const ScenarioView& s) {
  const workloads::Speculation& speculation = s.serving->speculation;
  if (!speculation.drafts() || speculation.method == DraftMethod::ngram) {
    return nullptr;
  }
  auto draft = std::make_unique<DraftModel>();
  draft->precision = speculation.precision.value_or(*s.precision);
  draft->serving = *s.serving;
  draft->serving.speculation = {};
  draft->serving.overlap = {};
  draft->serving.stack.iteration_overhead = {};
  draft->serving.stack.sequence_overhead = {};
  if (draft->serving.cuda_graphs.decode != workloads::DecodeGraphs::none) {
    draft->serving.stack.eager_operator = {};
  }
  draft->mapping = *s.mapping;
  draft->mapping.pipeline_parallel = 1;
  if (speculation.method == DraftMethod::model) {
    draft->model = *speculation.model;
    draft->resident = draft->model;
    draft->mapping = {};
    draft->mapping.tensor_parallel = speculation.tensor_parallel;
    draft->mapping.data_parallel = s.mapping->data_parallel;
    draft->weights = models::weight_bytes(draft->model, draft->precision, draft->mapping);
  } else {
    const Architecture shell = shell_of(*s.model);
    draft->resident = shell;
    draft->resident.layers = speculation.method == DraftMethod::eagle
                                 ? eagle_layer(*s.model)
                                 : modules(*s.model, speculation.draft_tokens);
    draft->model = draft->resident;
    draft->model.layers.resize(std::min<std::size_t>(1, draft->model.layers.size()));
    for (LayerGroup& layer : draft->model.layers) {
      layer.count = 1;
    }
    draft->weights = layer_bytes(*draft, shell);
  }
  draft->view = {s.platform,      &draft->model,   &draft->precision,
                 &draft->mapping, &draft->serving, s.traffic};
  return draft;
}

std::array<DraftPass, 2> draft_passes(const ScenarioView& s, const workloads::Batch& batch) {
  workloads::Batch first = batch;
  first.last_logits = true;
  // At most one path of a tree is accepted.
  first.query_tokens = std::min(batch.query_tokens, s.serving->speculation.draft_tokens + 1);
  workloads::Batch next;
  next.decode_sequences = batch.decode_sequences + batch.prefill_sequences;
  next.context =
      batch.decode_sequences > 0 ? batch.context : batch.prefill_tokens + batch.cached_tokens;
  next.query_tokens = s.serving->speculation.width;
  next.groups = batch.groups;
  return {{{first, 1}, {next, s.serving->speculation.draft_tokens - 1}}};
}

}  // namespace roofcast::sim
