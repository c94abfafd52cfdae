// SPDX-License-Identifier: Apache-2.0
#include "workloads/architecture.hpp"

#include <algorithm>

namespace roofcast::workloads {

std::span<const base::CatalogEntry> embedded_models();

base::Catalog model_catalog() { return {"models", "model", embedded_models()}; }

namespace {

using base::Fields;

void read_attention(Fields& g, AttentionShape& a) {
  g.choice<AttentionKind>("kind", a.kind,
                          {{"gqa", AttentionKind::gqa}, {"mla", AttentionKind::mla}});
  g.integer("query_heads", a.query_heads, base::at_least_one);
  if (a.kind == AttentionKind::gqa) {
    g.integer("kv_heads", a.kv_heads, base::at_least_one);
    g.integer("head_dim", a.head_dim, base::at_least_one);
    g.integer("window", a.window, base::at_least_one, base::optional);
    g.flag("qkv_bias", a.qkv_bias, base::optional);
    g.flag("qk_norm", a.qk_norm, base::optional);
    if (a.kv_heads > 0 && a.query_heads % a.kv_heads != 0) {
      g.problem("kv_heads", "must divide query_heads");
    }
  } else {
    g.integer("q_rank", a.q_rank, base::not_negative);
    g.integer("kv_rank", a.kv_rank, base::at_least_one);
    g.integer("nope_dim", a.nope_dim, base::at_least_one);
    g.integer("rope_dim", a.rope_dim, base::at_least_one);
    g.integer("value_dim", a.value_dim, base::at_least_one);
  }
}

void read_moe(Fields& g, MoeShape& moe) {
  g.integer("experts", moe.experts, base::at_least_one);
  g.integer("top_k", moe.top_k, base::at_least_one);
  g.integer("intermediate", moe.intermediate, base::at_least_one);
  g.flag("gated", moe.gated, base::optional);
  g.integer("shared_experts", moe.shared_experts, base::not_negative, base::optional);
  g.integer("shared_intermediate", moe.shared_intermediate, base::not_negative, base::optional);
  if (moe.experts > 0 && moe.top_k > moe.experts) {
    g.problem("top_k", "is more than the number of experts");
  }
}

void read_layers(Fields& f, Architecture& model) {
  f.each("layers", [&](Fields& g) {
    LayerGroup group;
    g.integer("count", group.count, base::at_least_one);
    g.choice<Mixer>(
        "mixer", group.mixer,
        {{"attention", Mixer::attention}, {"sliding_attention", Mixer::sliding_attention}});
    g.choice<Ffn>("ffn", group.ffn, {{"mlp", Ffn::mlp}, {"moe", Ffn::moe}});
    if (group.mixer == Mixer::sliding_attention && model.attention.window == 0) {
      g.problem("mixer", "sliding_attention needs attention.window");
    }
    if (group.ffn == Ffn::mlp && !f.has("mlp")) {
      g.problem("ffn", "mlp layers need a top-level mlp: group");
    }
    if (group.ffn == Ffn::moe && !f.has("moe")) {
      g.problem("ffn", "moe layers need a top-level moe: group");
    }
    model.layers.push_back(group);
  });
}

double attention_parameters(const Architecture& model) {
  const AttentionShape& a = model.attention;
  const auto hidden = static_cast<double>(model.hidden);
  const auto heads = static_cast<double>(a.query_heads);
  if (a.kind == AttentionKind::gqa) {
    const auto dim = static_cast<double>(a.head_dim);
    const double kv = static_cast<double>(a.kv_heads) * dim;
    return hidden * (heads * dim + 2.0 * kv) + heads * dim * hidden;
  }
  const auto q_rank = static_cast<double>(a.q_rank);
  const auto kv_rank = static_cast<double>(a.kv_rank);
  const auto rope = static_cast<double>(a.rope_dim);
  const double qk = heads * static_cast<double>(a.nope_dim + a.rope_dim);
  const double query = q_rank > 0.0 ? hidden * q_rank + q_rank * qk : hidden * qk;
  const double value = heads * static_cast<double>(a.value_dim);
  return query + hidden * (kv_rank + rope) +
         kv_rank * (heads * static_cast<double>(a.nope_dim) + value) + value * hidden;
}

double norm_parameters(const Architecture& model) {
  const AttentionShape& a = model.attention;
  double per_layer = 2.0 * static_cast<double>(model.hidden);
  if (a.kind == AttentionKind::mla) {
    per_layer += static_cast<double>(a.q_rank + a.kv_rank);
  }
  if (a.qk_norm) {
    per_layer += 2.0 * static_cast<double>(a.head_dim);
  }
  if (a.qkv_bias) {
    per_layer += static_cast<double>((a.query_heads + 2 * a.kv_heads) * a.head_dim);
  }
  return per_layer * static_cast<double>(model.layer_count()) + static_cast<double>(model.hidden);
}

double gated_parameters(std::int64_t hidden, std::int64_t intermediate, bool gated) {
  return (gated ? 3.0 : 2.0) * static_cast<double>(hidden) * static_cast<double>(intermediate);
}

}  // namespace

std::int64_t Architecture::layer_count() const {
  std::int64_t count = 0;
  for (const LayerGroup& group : layers) {
    count += group.count;
  }
  return count;
}

void read(Fields& f, Architecture& model) {
  model.id = f.node().reference;
  f.text("name", model.name);
  f.integer("max_context", model.max_context, base::at_least_one);
  f.integer("hidden", model.hidden, base::at_least_one);
  f.integer("vocab", model.vocab, base::at_least_one);
  f.flag("tied_embeddings", model.tied_embeddings);
  f.group("attention", [&](Fields& g) { read_attention(g, model.attention); });
  f.group(
      "mlp",
      [&](Fields& g) {
        g.integer("intermediate", model.mlp.intermediate, base::at_least_one);
        g.flag("gated", model.mlp.gated, base::optional);
      },
      base::optional);
  f.group(
      "moe", [&](Fields& g) { read_moe(g, model.moe); }, base::optional);
  read_layers(f, model);
  f.group(
      "published",
      [&](Fields& g) {
        double active = 0.0;
        g.number("total_parameters", model.published_total, base::positive);
        g.number("active_parameters", active, base::positive, base::optional);
        if (active > 0.0) {
          model.published_active = active;
        }
        g.source();
      },
      base::optional);
  f.source();
  std::vector<std::string> notes;
  f.texts("notes", notes);
}

ParameterCount parameters(const Architecture& model) {
  ParameterCount count;
  const auto table = static_cast<double>(model.vocab) * static_cast<double>(model.hidden);
  count.embedding = table;
  count.head = model.tied_embeddings ? 0.0 : table;
  count.norms = norm_parameters(model);
  for (const LayerGroup& group : model.layers) {
    const auto layers = static_cast<double>(group.count);
    count.attention += layers * attention_parameters(model);
    if (group.ffn == Ffn::mlp) {
      count.mlp += layers * gated_parameters(model.hidden, model.mlp.intermediate, model.mlp.gated);
    } else {
      const MoeShape& moe = model.moe;
      count.experts += layers * static_cast<double>(moe.experts) *
                       gated_parameters(model.hidden, moe.intermediate, moe.gated);
      count.shared += layers * static_cast<double>(moe.shared_experts) *
                      gated_parameters(model.hidden, moe.shared_intermediate, moe.gated);
      count.router += layers * static_cast<double>(moe.experts) * static_cast<double>(model.hidden);
    }
  }
  return count;
}

double active_parameters(const Architecture& model) {
  const ParameterCount count = parameters(model);
  const double share = model.moe.experts == 0 ? 0.0
                                              : static_cast<double>(model.moe.top_k) /
                                                    static_cast<double>(model.moe.experts);
  const double head = model.tied_embeddings ? count.embedding : count.head;
  return count.total() - count.embedding - count.head + head - count.experts * (1.0 - share);
}

}  // namespace roofcast::workloads
