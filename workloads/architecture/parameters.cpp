// SPDX-License-Identifier: Apache-2.0
#include "workloads/architecture/parameters.hpp"

#include <cmath>

#include "base/integers.hpp"

namespace roofcast::workloads {
namespace {

using base::as_double;

// GQA: projections of queries, outputs and, with an output gate, of gates are each hidden × query; keys and values are
// hidden × kv_heads · head_dim each. With a q_rank, that of queries is hidden × q_rank and q_rank × query.
// MLA: `query` has the two query projections (one without q_rank). The others are the down projection to
// kv_rank + rope_dim, the expansion of kv_rank to keys and values, and the output.
double attention_parameters(const Architecture& model, std::int64_t kv_heads) {
  const AttentionShape& a = model.attention;
  const double hidden = as_double(model.hidden);
  const double heads = as_double(a.query_heads);
  const double q_rank = as_double(a.q_rank);
  if (a.kind == AttentionKind::gqa) {
    const double query = heads * as_double(a.head_dim);
    const double kv = as_double(2 * kv_heads * a.head_dim);
    return q_rank > 0.0 ? q_rank * (hidden + query) + hidden * (query + kv)
                        : hidden * ((a.output_gate ? 3.0 : 2.0) * query + kv);
  }
  const double kv_rank = as_double(a.kv_rank);
  const double qk = heads * as_double(a.nope_dim + a.rope_dim);
  const double query = q_rank > 0.0 ? hidden * q_rank + q_rank * qk : hidden * qk;
  const double value = heads * as_double(a.value_dim);
  return query + hidden * (kv_rank + as_double(a.rope_dim)) +
         kv_rank * (heads * as_double(a.nope_dim) + value) + value * hidden;
}

// Queries come from the query latent (or the hidden state); one key and one weight a head come from the hidden state.
double index_parameters(const Architecture& model) {
  const AttentionShape& a = model.attention;
  const std::int64_t from = a.q_rank > 0 ? a.q_rank : model.hidden;
  return a.index.top_k == 0 ? 0.0
                            : as_double(from * a.index.heads * a.index.dim +
                                        model.hidden * (a.index.dim + a.index.heads));
}

// Scalars of heads: the bias of the step (of each decay), A, and with Mamba-2 also D. Mamba's convolution has a bias.
// Mamba-1 has an A for each element of the state; the norms of its selection may have weights.
double recurrent_extras(const RecurrentShape& r) {
  if (r.is_selective()) {
    const bool weights = r.selection_norm && r.selection_norm_weights;
    return as_double(2 * r.inner() + r.state_elements() + r.conv_channels() * (r.conv_kernel + 1) +
                     (weights ? r.selected() : 0));
  }
  const bool ssm = r.kind == Recurrence::ssm;
  const std::int64_t scalars = r.gate_rank > 0 ? r.heads + r.decays() : (ssm ? 3 : 2) * r.heads;
  return as_double(scalars + (ssm ? r.inner() : r.value_dim) +
                   r.conv_channels() * (r.conv_kernel + (ssm ? 1 : 0)));
}

// gate, up and down, or only up and down.
double gated_parameters(std::int64_t hidden, std::int64_t intermediate, bool gated) {
  return (gated ? 3.0 : 2.0) * as_double(hidden) * as_double(intermediate);
}

double repeated_attention(const Architecture& model, const LayerGroup& group, double ranks) {
  const AttentionShape& a = model.attention;
  const double hidden = as_double(model.hidden);
  const double whole = 1.0 - 1.0 / ranks;
  if (a.kind == AttentionKind::mla) {
    return hidden * as_double(a.q_rank + a.kv_rank + a.rope_dim) * whole;
  }
  const double share = as_double(group.kv_heads) / ranks;
  return as_double(group.streams) * hidden *
         (2.0 * as_double(a.head_dim) * (std::ceil(share) - share) + as_double(a.q_rank) * whole);
}

double repeated_recurrent(const Architecture& model, const RecurrentShape& r, double ranks) {
  if (r.is_selective()) {
    return 0.0;
  }
  const double share = as_double(r.key_heads) / ranks;
  return as_double(model.hidden) * (as_double(2 * r.key_dim) * (std::ceil(share) - share) +
                                    as_double(r.repeated()) * (1.0 - 1.0 / ranks));
}

double mixer_norms(const Architecture& model, const LayerGroup& group) {
  const AttentionShape& a = model.attention;
  if (group.mixer == Mixer::none) {
    return 0.0;
  }
  double norms = as_double(model.hidden);
  if (!attends(group.mixer)) {
    return norms + recurrent_extras(model.recurrent(group.mixer));
  }
  norms += as_double(a.q_rank + (a.kind == AttentionKind::mla ? a.kv_rank : 0));
  if (a.qk_norm) {
    norms += 2.0 * as_double(a.head_dim);
  }
  if (a.qkv_bias) {
    norms += as_double((a.query_heads + 2 * group.kv_heads) * a.head_dim);
  }
  return norms;
}

void add(LayerParameters& sum, double count, const LayerParameters& layer) {
  sum.attention += count * layer.attention;
  sum.attention_output += count * layer.attention_output;
  sum.modulation += count * layer.modulation;
  sum.index += count * layer.index;
  sum.recurrent += count * layer.recurrent;
  sum.mlp += count * layer.mlp;
  sum.experts += count * layer.experts;
  sum.shared += count * layer.shared;
  sum.latent += count * layer.latent;
  sum.router += count * layer.router;
  sum.norms += count * layer.norms;
}

}  // namespace

LayerParameters layer_parameters(const Architecture& model, const LayerGroup& group) {
  LayerParameters p;
  p.norms = mixer_norms(model, group);
  if (attends(group.mixer)) {
    const AttentionShape& a = model.attention;
    p.attention = as_double(group.streams) * attention_parameters(model, group.kv_heads);
    p.attention_output = as_double(group.streams * model.hidden * a.query_heads *
                                   (a.kind == AttentionKind::mla ? a.value_dim : a.head_dim));
    p.modulation = as_double(group.streams * group.modulation * model.hidden * model.hidden);
    p.index = index_parameters(model);
  } else if (group.mixer != Mixer::none) {
    const RecurrentShape& r = model.recurrent(group.mixer);
    p.recurrent = as_double(model.hidden * (r.projected() + r.inner()) +
                            r.gate_rank * (r.decays() + r.gates()) +
                            r.inner() * (r.selected() + r.step_rank));
  }
  if (group.ffn == Ffn::none) {
    return p;
  }
  p.norms += as_double(model.hidden);
  if (group.ffn == Ffn::mlp) {
    p.mlp = as_double(group.streams) *
            gated_parameters(model.hidden, group.intermediate, model.mlp.gated);
    return p;
  }
  const MoeShape& moe = model.moe;
  p.experts =
      as_double(moe.experts) * gated_parameters(model.expert_hidden(), moe.intermediate, moe.gated);
  p.shared = as_double(moe.shared_experts) *
             gated_parameters(model.hidden, moe.shared_intermediate, moe.gated);
  p.latent = model.projects_latent() ? 2.0 * as_double(model.hidden * moe.latent) : 0.0;
  p.router = as_double((moe.experts + (moe.shared_gate ? 1 : 0)) * model.hidden);
  return p;
}

double repeated_parameters(const Architecture& model, const LayerGroup& group,
                           const Mapping& mapping) {
  const double ranks = as_double(mapping.tensor_parallel);
  return group.mixer == Mixer::none ? 0.0
         : attends(group.mixer)     ? repeated_attention(model, group, ranks)
                                : repeated_recurrent(model, model.recurrent(group.mixer), ranks);
}

ParameterCount parameters(const Architecture& model) {
  ParameterCount count;
  count.embedding = as_double(model.vocab) * as_double(model.hidden);
  count.head = model.tied_embeddings ? 0.0 : count.embedding;
  for (const VisionEncoder& vision : model.vision) {
    count.vision = parameters(vision.encoder).total() + vision.projection_parameters(model.hidden);
  }
  count.final_norm = model.recommender ? 0.0 : as_double(model.hidden);
  if (model.recommender) {
    count.tables = model.recommender->rows() * as_double(model.recommender->width);
    count.towers = model.recommender->mlp_parameters(model.hidden);
  }
  for (const LayerGroup& group : model.layers) {
    add(count.layers, as_double(group.count), layer_parameters(model, group));
  }
  // A module first joins the hidden state and the embedding of the next token (two norms and 2·hidden → hidden).
  // Then it has a layer and a norm.
  const double hidden = as_double(model.hidden);
  for (const LayerGroup& group : model.mtp) {
    count.mtp += as_double(group.count) *
                 (layer_parameters(model, group).total() + 2.0 * hidden * hidden + 3.0 * hidden);
  }
  return count;
}

double active_parameters(const Architecture& model) {
  const ParameterCount count = parameters(model);
  const double share =
      model.moe.experts == 0 ? 0.0 : as_double(model.moe.top_k) / as_double(model.moe.experts);
  const bool looked_up = !model.tied_embeddings || !model.autoregressive;
  return count.total() - count.tables - (looked_up ? count.embedding : 0.0) -
         count.layers.experts * (1.0 - share);
}

}  // namespace roofcast::workloads
