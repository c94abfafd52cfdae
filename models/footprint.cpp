// SPDX-License-Identifier: Apache-2.0
#include "models/footprint.hpp"

#include <algorithm>
#include <cmath>

#include "base/integers.hpp"
#include "workloads/architecture/parameters.hpp"
#include "workloads/graph/vision_graph.hpp"

namespace roofcast::models {
namespace {

using base::as_double;
using base::Bytes;
using base::NumberFormat;
using workloads::Architecture;
using workloads::AttentionKind;
using workloads::kHiddenBytes;
using workloads::LayerGroup;
using workloads::Mapping;

// The sum of `of(group)` over the layers of the fullest pipeline stage; `of` is called for one layer of a group.
// Stages are cut at equal depths. Interleaved groups stand in every stage in proportion.
template <class Of>
Bytes fullest_stage(const Architecture& model, const Mapping& mapping, Of of) {
  const std::int64_t stages = mapping.pipeline_parallel;
  const std::int64_t all = model.layer_count();
  if (stages == 1 || model.interleaved) {
    const double share = std::ceil(as_double(all) / as_double(stages)) / as_double(all);
    Bytes sum;
    for (const LayerGroup& group : model.layers) {
      sum += share * as_double(group.count) * of(group);
    }
    return sum;
  }
  Bytes most;
  for (std::int64_t stage = 0; stage < stages; ++stage) {
    const std::int64_t begin = stage * all / stages;
    const std::int64_t end = (stage + 1) * all / stages;
    std::int64_t depth = 0;
    Bytes sum;
    for (const LayerGroup& group : model.layers) {
      const std::int64_t here = std::min(end, depth + group.count) - std::max(begin, depth);
      depth += group.count;
      if (here > 0) {
        sum += as_double(here) * of(group);
      }
    }
    most = base::max(most, sum);
  }
  return most;
}

// MLA's expansion a second time, for decode: bf16 copies that multiply queries and outputs.
double absorbed_attention(const Architecture& model) {
  const workloads::AttentionShape& a = model.attention;
  return a.kind == AttentionKind::mla
             ? as_double(a.query_heads * a.kv_rank * (a.nope_dim + a.value_dim))
             : 0.0;
}

Bytes layer_bytes(const Architecture& model, const LayerGroup& group,
                  const workloads::Precision& precision, const Mapping& mapping) {
  const workloads::LayerParameters p = workloads::layer_parameters(model, group);
  const double tp = as_double(mapping.tensor_parallel);
  const double copies =
      p.experts > 0.0 ? 1.0 + as_double(mapping.redundant_experts) / as_double(model.moe.experts)
                      : 1.0;
  Bytes sum =
      workloads::weight_bytes(p.recurrent / tp, precision.recurrent) +
      workloads::weight_bytes(p.index, precision.attention) +
      workloads::weight_bytes(p.mlp / tp, precision.mlp) +
      workloads::weight_bytes(copies * p.experts / as_double(mapping.expert_ranks()),
                              precision.experts) +
      workloads::weight_bytes(p.shared / tp, precision.shared) +
      workloads::weight_bytes(p.latent, precision.latent) +
      workloads::weight_bytes(p.modulation / tp, precision.plain) +
      base::bytes_of(p.router, model.moe.fp32_router ? NumberFormat::fp32 : NumberFormat::bf16) +
      base::bytes_of(p.norms, NumberFormat::bf16);
  const double repeated = workloads::repeated_parameters(model, group, mapping);
  if (workloads::attends(group.mixer)) {
    const double others = p.attention - p.attention_output;
    sum += workloads::weight_bytes(others / tp + repeated, precision.attention) +
           workloads::weight_bytes(p.attention_output / tp, precision.attention_output) +
           base::bytes_of(absorbed_attention(model) / tp, NumberFormat::bf16);
  } else if (group.mixer != workloads::Mixer::none) {
    sum += workloads::weight_bytes(repeated, precision.recurrent);
  }
  return sum;
}

}  // namespace

Bytes weight_bytes(const Architecture& model, const workloads::Precision& precision,
                   const Mapping& mapping) {
  const Bytes layers = fullest_stage(model, mapping, [&](const LayerGroup& group) {
    return layer_bytes(model, group, precision, mapping);
  });
  // The embedding is on the first stage and the head on the last. With pipelining a rank has one of them.
  const double table = as_double(model.vocab) * as_double(model.hidden);
  const bool both = mapping.pipeline_parallel == 1 && !model.tied_embeddings;
  const double tables = (both ? 2.0 : 1.0) * table / as_double(mapping.tensor_parallel);
  Bytes vision{};  // each rank holds the whole encoder
  for (const workloads::VisionEncoder& v : model.vision) {
    vision = weight_bytes(v.encoder, workloads::vision_precision(precision), {}) +
             workloads::weight_bytes(v.projection_parameters(model.hidden), precision.plain);
  }
  if (model.recommender) {
    const workloads::ParameterCount p = workloads::parameters(model);
    return layers +
           workloads::weight_bytes(p.tables / as_double(mapping.stage_ranks()), precision.head) +
           workloads::weight_bytes(p.towers, precision.mlp);
  }
  return layers + vision + workloads::weight_bytes(tables, precision.head) +
         base::bytes_of(as_double(model.hidden),
                        NumberFormat::bf16);  // the norm after the last layer
}

Bytes cache_bytes(double tokens, const Architecture& model, const workloads::Precision& precision,
                  const Mapping& mapping, std::int64_t block_tokens) {
  const workloads::AttentionShape& a = model.attention;
  const double block = as_double(block_tokens);
  const double parts = as_double(mapping.cache_parts());
  return fullest_stage(model, mapping, [&](const LayerGroup& group) {
    if (!workloads::caches(group.mixer)) {
      return Bytes{};
    }
    const double seen = group.window > 0 ? std::min(tokens, as_double(group.window)) : tokens;
    const double kept = std::ceil(seen / parts / block) * block;
    if (a.kind == AttentionKind::mla) {
      return base::bytes_of(kept * as_double(a.kv_rank + a.rope_dim), precision.kv_cache) +
             base::bytes_of(kept * as_double(a.index.dim), precision.index);
    }
    const double heads = std::ceil(as_double(group.kv_heads) / as_double(mapping.tensor_parallel));
    return base::bytes_of(kept * 2.0 * heads * as_double(a.head_dim), precision.kv_cache);
  });
}

Bytes state_bytes(const Architecture& model, const workloads::Precision& precision,
                  const Mapping& mapping) {
  const double ways = as_double(mapping.tensor_parallel * mapping.context_parallel);
  return fullest_stage(model, mapping, [&](const LayerGroup& group) {
    if (group.mixer == workloads::Mixer::none || workloads::attends(group.mixer)) {
      return Bytes{};
    }
    const workloads::RecurrentShape& r = model.recurrent(group.mixer);
    return base::bytes_of(as_double(r.state_elements()) / ways, precision.state) +
           base::bytes_of(as_double(r.conv_state_elements()) / ways, NumberFormat::bf16);
  });
}

// group_tokens  tokens   the most of an iteration, over all ranks of context parallelism
// tokens        tokens   the most that one of those ranks computes; a decode is never cut
// rows          –        the most running sequences
// logit_rows    tokens   the most that need logits: more than `rows` where drafts are verified
// pairs         –        (token, expert) pairs that a rank computes when the experts are even
// expert_width  –        feed-forward width of an expert on one rank
// dense, routed –        elements of the widest dense layer and of the experts; one buffer serves both
Footprint footprint(const hardware::Chip& chip, const workloads::Architecture& model,
                    const workloads::Precision& precision, const workloads::Mapping& mapping,
                    const workloads::Serving& serving, Bytes others) {
  constexpr double kLogitBytes = 4.0;
  constexpr double kWidths = 3.0;  // gate, up and their product
  // Copies of a row of experts, each of two bytes: the row goes in with one byte and comes out with two.
  constexpr double kRowCopies = 1.5;
  const double tp = as_double(mapping.tensor_parallel);
  const double group_tokens = as_double(serving.limits.max_tokens_per_iteration);
  const double rows = as_double(serving.limits.max_sequences);
  const double logit_rows =
      std::max(rows, std::min(rows * as_double(serving.speculation.query_tokens()), group_tokens));
  const double tokens =
      std::max(group_tokens / as_double(mapping.context_parallel), std::min(group_tokens, rows));
  const workloads::MoeShape& moe = model.moe;
  const double pairs = group_tokens * as_double(moe.top_k * mapping.data_parallel) /
                       as_double(mapping.expert_parallel);
  const double expert_width =
      static_cast<double>(moe.intermediate) / static_cast<double>(mapping.expert_tensor_parallel());
  const double routed =
      moe.experts == 0
          ? 0.0
          : pairs * (kRowCopies * as_double(model.expert_hidden()) + kWidths * expert_width);
  double widest = 0.0;  // elements a token, before tensor parallelism
  for (const LayerGroup& group : model.layers) {
    widest = std::max(widest, kWidths * as_double(group.intermediate));
    if (group.mixer != workloads::Mixer::none && !workloads::attends(group.mixer)) {
      widest = std::max(widest, as_double(model.recurrent(group.mixer).projected()));
    }
  }
  const double dense = tokens * widest / tp;
  Footprint f;
  f.weights = weight_bytes(model, precision, mapping) + others;
  f.activations = Bytes::from_si(
      kHiddenBytes * (tokens * 4.0 * static_cast<double>(model.hidden) + std::max(dense, routed)) +
      logit_rows * static_cast<double>(model.vocab) * kLogitBytes);
  f.reserve = serving.stack.runtime_reserve;
  if (mapping.ranks() > 1) {
    f.reserve += serving.stack.collective_reserve;
  }
  const Bytes usable = chip.usable_capacity();
  const double fraction = serving.limits.memory_fraction;
  switch (serving.stack.fraction_of) {
    case workloads::FractionOf::device:
      f.limit = fraction * usable;
      break;
    case workloads::FractionOf::weights_and_cache:
      // Activations and reserve take the rest of the device.
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
