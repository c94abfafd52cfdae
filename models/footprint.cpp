// SPDX-License-Identifier: Apache-2.0
#include "models/footprint.hpp"

#include <algorithm>
#include <cmath>

namespace roofcast::models {
namespace {

using base::Bytes;
using workloads::AttentionKind;

// Share of a model's layers on the stage that has most.
double stage_share(const workloads::Architecture& model, const workloads::Mapping& mapping) {
  const auto layers = static_cast<double>(model.layer_count());
  return std::ceil(layers / static_cast<double>(mapping.pipeline_parallel)) / layers;
}

double cache_elements(const workloads::Architecture& model, const workloads::Mapping& mapping) {
  const workloads::AttentionShape& a = model.attention;
  if (a.kind == AttentionKind::mla) {
    return static_cast<double>(a.kv_rank + a.rope_dim);
  }
  const double heads =
      std::ceil(static_cast<double>(a.kv_heads) / static_cast<double>(mapping.tensor_parallel));
  return 2.0 * heads * static_cast<double>(a.head_dim);
}

// Attention parameters a rank holds beyond its 1/tensor_parallel: MLA's down projections, and KV
// heads fewer than ranks.
double repeated_attention(const workloads::Architecture& model, const workloads::Mapping& mapping) {
  const workloads::AttentionShape& a = model.attention;
  const auto tp = static_cast<double>(mapping.tensor_parallel);
  const double layers_by_hidden =
      static_cast<double>(model.layer_count()) * static_cast<double>(model.hidden);
  if (a.kind == AttentionKind::mla) {
    return layers_by_hidden * static_cast<double>(a.q_rank + a.kv_rank + a.rope_dim) *
           (1.0 - 1.0 / tp);
  }
  const double share = static_cast<double>(a.kv_heads) / tp;
  return layers_by_hidden * 2.0 * static_cast<double>(a.head_dim) * (std::ceil(share) - share);
}

// MLA's expansion again, for decode: bf16 copies that multiply queries and outputs.
double absorbed_attention(const workloads::Architecture& model) {
  const workloads::AttentionShape& a = model.attention;
  return a.kind == AttentionKind::mla ? static_cast<double>(model.layer_count() * a.query_heads *
                                                            a.kv_rank * (a.nope_dim + a.value_dim))
                                      : 0.0;
}

double layers_with(const workloads::Architecture& model, workloads::Ffn ffn) {
  std::int64_t count = 0;
  for (const workloads::LayerGroup& group : model.layers) {
    count += group.ffn == ffn ? group.count : 0;
  }
  return static_cast<double>(count);
}

// Feed-forward weights of the heaviest `stage` layers, out of two kinds given by their totals.
Bytes heaviest(Bytes a, double a_layers, Bytes b, double b_layers, double stage) {
  const Bytes per_a = a_layers > 0.0 ? a / a_layers : Bytes{};
  const Bytes per_b = b_layers > 0.0 ? b / b_layers : Bytes{};
  if (per_a > per_b) {
    return heaviest(b, b_layers, a, a_layers, stage);
  }
  const double most_b = std::min(stage, b_layers);
  return most_b * per_b + std::min(stage - most_b, a_layers) * per_a;
}

}  // namespace

Bytes weight_bytes(const workloads::Architecture& model, const workloads::Precision& precision,
                   const workloads::Mapping& mapping) {
  const workloads::ParameterCount count = workloads::parameters(model);
  const auto tp = static_cast<double>(mapping.tensor_parallel);
  const auto all = static_cast<double>(model.layer_count());
  const double stage = stage_share(model, mapping) * all;  // layers of the fullest stage
  const double attention = count.attention / tp + repeated_attention(model, mapping);
  const Bytes absorbed = base::bytes_of(absorbed_attention(model) / tp, base::NumberFormat::bf16);
  const Bytes every = base::bytes_of(attention / all, precision.attention.weights) +
                      absorbed / all + base::bytes_of(count.norms / all, base::NumberFormat::bf16);
  const Bytes dense = base::bytes_of(count.mlp / tp, precision.mlp.weights);
  const Bytes routed = base::bytes_of(count.shared / tp, precision.mlp.weights) +
                       base::bytes_of(count.experts / static_cast<double>(mapping.expert_ranks()),
                                      precision.experts.weights) +
                       base::bytes_of(count.router, base::NumberFormat::bf16);
  const Bytes layers =
      stage * every + heaviest(dense, layers_with(model, workloads::Ffn::mlp), routed,
                               layers_with(model, workloads::Ffn::moe), stage);
  // The embedding is on the first stage, the head on the last: with pipelining one of them a rank.
  const bool split = mapping.pipeline_parallel > 1;
  const double tables =
      split ? std::max(count.embedding, count.head) : count.embedding + count.head;
  return layers + base::bytes_of(tables / tp, precision.head.weights);
}

Bytes cache_bytes(double tokens, const workloads::Architecture& model,
                  const workloads::Precision& precision, const workloads::Mapping& mapping,
                  std::int64_t block_tokens) {
  const auto block = static_cast<double>(block_tokens);
  const auto blocks = [&](double t) { return std::ceil(t / block) * block; };
  double kept = 0.0;  // tokens × layers
  for (const workloads::LayerGroup& group : model.layers) {
    const bool sliding = group.mixer == workloads::Mixer::sliding_attention;
    const double seen =
        sliding ? std::min(tokens, static_cast<double>(model.attention.window)) : tokens;
    kept += static_cast<double>(group.count) * blocks(seen);
  }
  return stage_share(model, mapping) *
         base::bytes_of(kept * cache_elements(model, mapping), precision.kv_cache);
}

Footprint footprint(const hardware::Chip& chip, const workloads::Architecture& model,
                    const workloads::Precision& precision, const workloads::Mapping& mapping,
                    const workloads::Serving& serving) {
  constexpr double kHiddenBytes = 2.0;
  constexpr double kLogitBytes = 4.0;
  constexpr double kWidths = 3.0;     // gate, up and their product
  constexpr double kRowCopies = 1.5;  // rows into the experts in one byte, out of them in two
  const auto tp = static_cast<double>(mapping.tensor_parallel);
  const auto tokens = static_cast<double>(serving.limits.max_tokens_per_step);
  const workloads::MoeShape& moe = model.moe;
  const double pairs = tokens * static_cast<double>(moe.top_k * mapping.data_parallel) /
                       static_cast<double>(mapping.expert_parallel);
  const double expert_width =
      static_cast<double>(moe.intermediate) / static_cast<double>(mapping.expert_tensor_parallel());
  const double routed =
      moe.experts == 0
          ? 0.0
          : pairs * (kRowCopies * static_cast<double>(model.hidden) + kWidths * expert_width);
  const double dense = tokens * kWidths * static_cast<double>(model.mlp.intermediate) / tp;
  const auto rows = static_cast<double>(serving.limits.max_sequences);
  Footprint f;
  f.weights = weight_bytes(model, precision, mapping);
  f.activations = Bytes::from_si(
      kHiddenBytes * (tokens * 4.0 * static_cast<double>(model.hidden) + std::max(dense, routed)) +
      rows * static_cast<double>(model.vocab) * kLogitBytes);
  f.reserve = serving.stack.runtime_reserve;
  const Bytes usable = chip.usable_capacity();
  const double fraction = serving.limits.memory_fraction;
  switch (serving.stack.fraction_of) {
    case workloads::FractionOf::device:
      f.limit = fraction * usable;
      break;
    case workloads::FractionOf::weights_and_cache:
      // Activations and reserve live in the rest of the device.
      f.limit = base::min(usable, fraction * usable + f.activations + f.reserve);
      break;
    case workloads::FractionOf::free_memory:
      f.limit = f.fixed() + fraction * (usable - f.fixed());
      break;
  }
  f.cache = f.limit - f.fixed();
  return f;
}

}  // namespace roofcast::models
