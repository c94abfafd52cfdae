// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/vision_graph.hpp"

#include <map>
#include <mutex>
#include <string>

#include "base/integers.hpp"

namespace roofcast::workloads {
namespace {

// "vision." and the name of a call. Call::name is a view, so the texts are kept for ever; there are few of them.
std::string_view name_of(std::string_view call) {
  static std::mutex mutex;
  static std::map<std::string_view, std::string> names;
  const std::lock_guard lock(mutex);
  std::string& name = names[call];
  if (name.empty()) {
    name.append("vision.").append(call);
  }
  return name;
}

}  // namespace

Precision vision_precision(const Precision& precision) {
  Precision plain;
  for (LinearFormat* format : {&plain.attention, &plain.recurrent, &plain.mlp, &plain.experts,
                               &plain.shared, &plain.latent, &plain.head, &plain.plain}) {
    *format = precision.plain;
  }
  plain.kv_cache = precision.plain.activations;
  return plain;
}

void append_vision(const VisionEncoder& vision, std::int64_t hidden, const Precision& precision,
                   const Mapping& mapping, Fusion fusion, std::int64_t images, double runs,
                   Graph& graph) {
  const std::int64_t ranks = mapping.tensor_parallel;
  const std::int64_t own = base::ceil_div(images, ranks);
  Batch batch;
  batch.prefill_sequences = own;
  batch.prefill_tokens = vision.patches;
  Graph encoding;
  build_graph(vision.encoder, vision_precision(precision), {}, fusion, batch, encoding);
  const LinearFormat format = precision.plain;
  const std::int64_t rows = own * vision.tokens();
  const auto project = [&](std::string_view name, std::int64_t n) {
    encoding.push_back(
        {Gemm{rows, n, vision.merged(), 1, format.activations, format.weights, 0, format.storage},
         name});
  };
  project("project_up", vision.merged());
  project("project_down", hidden);
  if (ranks > 1) {
    const double gathered = static_cast<double>(images * vision.tokens() * hidden) * kHiddenBytes;
    encoding.push_back(
        {Collective{CollectiveKind::all_gather, gathered, ranks, 1, fusion.custom_all_reduce},
         "gather"});
  }
  for (Call& call : encoding) {
    call.name = name_of(call.name);
    call.count *= runs;
    call.in_layers = false;
    graph.push_back(call);
  }
}

}  // namespace roofcast::workloads
