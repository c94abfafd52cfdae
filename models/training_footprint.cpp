// SPDX-License-Identifier: Apache-2.0
#include "models/training_footprint.hpp"

#include <algorithm>
#include <cmath>

#include "base/integers.hpp"
#include "workloads/architecture/parameters.hpp"

namespace roofcast::models {
namespace {

using base::as_double;
using base::Bytes;
using workloads::kHiddenBytes;
using workloads::Mapping;

// The share of all layers that the fullest stage has.
double stage_share(const workloads::Architecture& model, const Mapping& mapping) {
  const double layers = as_double(model.layer_count());
  return std::ceil(layers / as_double(mapping.pipeline_parallel)) / layers;
}

// Elements that a mixer keeps for one token, without its inputs. Tensor parallelism cuts all of them.
double mixer_elements(const workloads::Architecture& model, const workloads::LayerGroup& layer) {
  const workloads::AttentionShape& a = model.attention;
  if (!workloads::attends(layer.mixer)) {
    const workloads::RecurrentShape& r = model.recurrent(layer.mixer);
    return as_double(r.projected() + r.conv_channels() + 2 * r.inner());
  }
  if (a.kind == workloads::AttentionKind::mla) {
    return as_double(a.query_heads * (2 * (a.nope_dim + a.rope_dim) + 2 * a.value_dim));
  }
  return as_double((2 * a.query_heads + 2 * layer.kv_heads) * a.head_dim);
}

double feed_forward_elements(double width, bool gated) { return (gated ? 3.0 : 2.0) * width; }

}  // namespace

RankParameters rank_parameters(const workloads::Architecture& model, const Mapping& mapping) {
  RankParameters rank;
  const double tp = as_double(mapping.tensor_parallel);
  const double share = stage_share(model, mapping);
  for (const workloads::LayerGroup& group : model.layers) {
    const workloads::LayerParameters p = workloads::layer_parameters(model, group);
    const double count = share * as_double(group.count);
    rank.dense += count * ((p.attention + p.recurrent + p.mlp + p.shared) / tp + p.index +
                           p.latent + p.router + p.norms);
    rank.experts += count * p.experts / as_double(mapping.expert_ranks());
  }
  const bool both = mapping.pipeline_parallel == 1 && !model.tied_embeddings;
  rank.dense += (both ? 2.0 : 1.0) * as_double(model.vocab) * as_double(model.hidden) / tp;
  return rank;
}

double kept_bytes(const workloads::Architecture& model, const workloads::LayerGroup& layer,
                  const Mapping& mapping, workloads::Recompute recompute) {
  const double tp = as_double(mapping.tensor_parallel);
  const double rows = as_double(model.hidden) / (mapping.sequence_parallel ? tp : 1.0);
  if (recompute == workloads::Recompute::full) {
    return kHiddenBytes * rows;
  }
  double elements = 0.0;
  if (layer.mixer != workloads::Mixer::none) {
    elements += 2.0 * rows + mixer_elements(model, layer) / tp;
  }
  if (layer.ffn == workloads::Ffn::mlp) {
    elements +=
        2.0 * rows + feed_forward_elements(as_double(layer.intermediate), model.mlp.gated) / tp;
  } else if (layer.ffn == workloads::Ffn::moe) {
    const workloads::MoeShape& moe = model.moe;
    const double routed =
        as_double(moe.top_k) * (as_double(model.expert_hidden()) +
                                feed_forward_elements(as_double(moe.intermediate), moe.gated));
    const double shared =
        feed_forward_elements(as_double(moe.shared_experts * moe.shared_intermediate), moe.gated);
    elements += 2.0 * rows + (routed + shared) / tp;
  }
  return kHiddenBytes * elements;
}

// rank      –      parameters of the fullest rank
// shared    –      parameters whose optimizer state one rank keeps
// stage     B      activations of one token in all layers of the stage
// widest    B      activations of one token in the layer that keeps most; full recompute has one such layer at a time
// held      –      micro-batches whose activations a first stage holds, if there are so many
// rows      tokens of one micro-batch on one rank of context parallelism
// kept      B      activations of the rank
TrainingFootprint training_footprint(const workloads::Architecture& model, const Mapping& mapping,
                                     const workloads::Training& training, double tokens,
                                     std::int64_t micro_batches) {
  constexpr double kParameterBytes = 2.0;
  constexpr double kOptimizerBytes = 12.0;
  constexpr double kLogitBytes = 4.0;
  const RankParameters rank = rank_parameters(model, mapping);
  const bool whole = training.sharding == workloads::Sharding::none;
  const double replicas = whole ? 1.0 : as_double(mapping.data_parallel * mapping.context_parallel);
  const double expert_replicas = whole ? 1.0 : as_double(mapping.expert_replicas);
  const double shared = rank.dense / replicas + rank.experts / expert_replicas;
  const bool all = training.sharding == workloads::Sharding::parameters;
  TrainingFootprint f;
  f.parameters = Bytes::from_si(kParameterBytes * (all ? shared : rank.total()));
  f.gradients = Bytes::from_si(training.gradient_bytes * (all ? shared : rank.total()));
  f.optimizer = Bytes::from_si(kOptimizerBytes * shared);
  double stage = 0.0;
  double widest = 0.0;
  for (const workloads::LayerGroup& group : model.layers) {
    stage += stage_share(model, mapping) * as_double(group.count) *
             kept_bytes(model, group, mapping, training.recompute);
    widest = std::max(widest, kept_bytes(model, group, mapping, workloads::Recompute::none));
  }
  const std::int64_t stages = mapping.pipeline_parallel;
  const double held =
      training.virtual_stages > 1
          ? as_double(stages) *
                (1.0 + as_double(stages - 1) / as_double(stages * training.virtual_stages))
          : as_double(stages);
  const double rows = tokens / as_double(mapping.context_parallel);
  double kept = rows * std::min(held, as_double(micro_batches)) * stage;
  if (training.recompute == workloads::Recompute::full) {
    kept += rows * widest;
  }
  if (stages == 1) {
    kept += rows * as_double(model.vocab) / as_double(mapping.tensor_parallel) *
            (kHiddenBytes + kLogitBytes);
  }
  f.activations = Bytes::from_si(kept);
  return f;
}

}  // namespace roofcast::models
