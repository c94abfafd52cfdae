// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "workloads/architecture/architecture.hpp"
#include "workloads/architecture/precision.hpp"
#include "workloads/architecture/transform.hpp"

namespace roofcast::workloads {
namespace {

using base::Fields;

// Tokens that a block of threads scans at once, at most (state-spaces/mamba, selective_scan_fwd_kernel.cuh).

void read_index(Fields& g, SparseIndex& index) {
  g.integer("heads", index.heads, base::at_least_one);
  g.integer("dim", index.dim, base::at_least_one);
  g.integer("top_k", index.top_k, base::at_least_one);
}

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
    g.flag("joint_qk_norm", a.joint_qk_norm, base::optional);
    if (a.joint_qk_norm && !a.qk_norm) {
      g.problem("joint_qk_norm", "needs qk_norm");
    }
    g.flag("output_gate", a.output_gate, base::optional);
    g.integer("q_rank", a.q_rank, base::not_negative, base::optional);
    if (a.q_rank > 0 && (a.output_gate || a.qkv_bias)) {
      g.problem("q_rank", "is not modelled together with output_gate or qkv_bias");
    }
    if (a.kv_heads > 0 && a.query_heads % a.kv_heads != 0) {
      g.problem("kv_heads", "must divide query_heads");
    }
  } else {
    g.integer("q_rank", a.q_rank, base::not_negative);
    g.integer("kv_rank", a.kv_rank, base::at_least_one);
    g.integer("nope_dim", a.nope_dim, base::at_least_one);
    g.integer("rope_dim", a.rope_dim, base::at_least_one);
    g.integer("value_dim", a.value_dim, base::at_least_one);
    g.group(
        "index", [&](Fields& i) { read_index(i, a.index); }, base::optional);
  }
}

void read_mamba(Fields& g, RecurrentShape& r) {
  r.kind = Recurrence::ssm;
  g.integer("heads", r.heads, base::at_least_one);
  g.integer("head_dim", r.value_dim, base::at_least_one);
  g.integer("state", r.key_dim, base::at_least_one);
  g.integer("groups", r.key_heads, base::at_least_one);
  g.integer("conv_kernel", r.conv_kernel, base::at_least_one);
  g.integer("chunk", r.chunk, base::at_least_one);
  if (r.key_heads > 0 && r.heads % r.key_heads != 0) {
    g.problem("groups", "must divide heads");
  }
}

void read_delta_net(Fields& g, RecurrentShape& r) {
  r.kind = Recurrence::delta;
  g.integer("value_heads", r.heads, base::at_least_one);
  g.integer("key_heads", r.key_heads, base::at_least_one);
  g.integer("key_dim", r.key_dim, base::at_least_one);
  g.integer("value_dim", r.value_dim, base::at_least_one);
  g.integer("conv_kernel", r.conv_kernel, base::at_least_one);
  g.integer("chunk", r.chunk, base::at_least_one);
  g.integer("gate_rank", r.gate_rank, base::not_negative, base::optional);
  if (r.key_heads > 0 && r.heads % r.key_heads != 0) {
    g.problem("key_heads", "must divide value_heads");
  }
}

void read_mamba1(Fields& g, RecurrentShape& r) {
  r.kind = Recurrence::selective;
  r.key_heads = 1;
  r.value_dim = 1;
  r.chunk = kSelectiveBlock;
  g.integer("inner", r.heads, base::at_least_one);
  g.integer("state", r.key_dim, base::at_least_one);
  g.integer("step_rank", r.step_rank, base::at_least_one);
  g.integer("conv_kernel", r.conv_kernel, base::at_least_one);
  g.flag("selection_norm", r.selection_norm, base::optional);
  g.flag("selection_norm_weights", r.selection_norm_weights, base::optional);
}

void read_moe(Fields& g, MoeShape& moe) {
  g.integer("experts", moe.experts, base::at_least_one);
  g.integer("top_k", moe.top_k, base::at_least_one);
  g.integer("groups", moe.groups.count, base::at_least_one, base::optional);
  g.integer("top_k_groups", moe.groups.kept, base::at_least_one,
            g.has("groups") ? base::required : base::optional);
  g.integer("intermediate", moe.intermediate, base::at_least_one);
  g.flag("gated", moe.gated, base::optional);
  g.integer("shared_experts", moe.shared_experts, base::not_negative, base::optional);
  g.integer("shared_intermediate", moe.shared_intermediate, base::not_negative, base::optional);
  g.flag("shared_gate", moe.shared_gate, base::optional);
  g.flag("fp32_router", moe.fp32_router, base::optional);
  g.integer("latent", moe.latent, base::at_least_one, base::optional);
  if (moe.shared_experts > 0 && moe.shared_intermediate == 0) {
    g.problem("shared_experts", "needs shared_intermediate, the width of each");
  } else if (moe.shared_intermediate > 0 && !g.has("shared_experts")) {
    g.problem("shared_intermediate", "needs shared_experts, how many there are");
  }
  if (moe.experts > 0 && moe.top_k > moe.experts) {
    g.problem("top_k", "is more than the number of experts");
  }
  if (moe.experts > 0 && moe.experts % moe.groups.count != 0) {
    g.problem("groups", "must divide experts");
  } else if (moe.groups.kept > moe.groups.count) {
    g.problem("top_k_groups", "is more than the number of groups");
  } else if (moe.groups.count > 1 && moe.top_k > moe.experts / moe.groups.count * moe.groups.kept) {
    g.problem("top_k", "is more than the experts of the groups that are kept");
  }
}

void read_layer_group(Fields& f, Fields& g, const Architecture& model, LayerGroup& group) {
  g.choice<Mixer>("mixer", group.mixer,
                  {{"attention", Mixer::attention},
                   {"sliding_attention", Mixer::sliding_attention},
                   {"chunked_attention", Mixer::chunked_attention},
                   {"bidirectional_attention", Mixer::bidirectional_attention},
                   {"mamba", Mixer::mamba},
                   {"delta_net", Mixer::delta_net},
                   {"mamba1", Mixer::mamba1},
                   {"none", Mixer::none}});
  g.choice<Ffn>("ffn", group.ffn, {{"mlp", Ffn::mlp}, {"moe", Ffn::moe}, {"none", Ffn::none}});
  const bool limited =
      group.mixer == Mixer::sliding_attention || group.mixer == Mixer::chunked_attention;
  const bool bidirectional = group.mixer == Mixer::bidirectional_attention;
  if (attends(group.mixer)) {
    group.kv_heads = model.attention.kv_heads;
    g.integer("kv_heads", group.kv_heads, base::at_least_one, base::optional);
    if (g.has("kv_heads") && group.kv_heads > 0 &&
        model.attention.query_heads % group.kv_heads != 0) {
      g.problem("kv_heads", "must divide attention.query_heads");
    }
  }
  if (limited) {
    group.window = model.attention.window;
    g.integer("window", group.window, base::at_least_one, base::optional);
  }
  if (bidirectional) {
    g.integer("window", group.window, base::at_least_one, base::optional);
    g.integer("streams", group.streams, base::at_least_one, base::optional);
    g.integer("modulation", group.modulation, base::not_negative, base::optional);
  }
  if (group.ffn == Ffn::mlp) {
    group.intermediate = model.mlp.intermediate;
    g.integer("intermediate", group.intermediate, base::at_least_one, base::optional);
  }
  if (bidirectional && model.attention.kind == AttentionKind::mla) {
    g.problem("mixer", "latent attention (kind: mla) is causal");
  } else if (bidirectional && model.autoregressive) {
    g.problem("mixer", "a token that sees later ones needs autoregressive: false");
  }
  if (group.streams > 1 && group.ffn != Ffn::mlp) {
    g.problem("streams", "are of attention and mlp together");
  }
  if (limited && model.attention.kind == AttentionKind::mla) {
    g.problem("mixer", "latent attention (kind: mla) has no window");
  } else if (limited && group.window == 0) {
    g.problem("mixer", "needs a window, here or in attention.window");
  }
  const auto needs = [&](bool wanted, std::string_view key, std::string_view section) {
    if (wanted && !f.has(section)) {
      g.problem(key, fmt::format("{} layers need a top-level {}: group", section, section));
    }
  };
  needs(attends(group.mixer), "mixer", "attention");
  needs(group.mixer == Mixer::mamba, "mixer", "mamba");
  needs(group.mixer == Mixer::delta_net, "mixer", "delta_net");
  needs(group.mixer == Mixer::mamba1, "mixer", "mamba1");
  needs(group.ffn == Ffn::mlp, "ffn", "mlp");
  needs(group.ffn == Ffn::moe, "ffn", "moe");
}

void read_layers(Fields& f, Architecture& model) {
  f.each("layers", [&](Fields& g) {
    LayerGroup group;
    g.integer("count", group.count, base::at_least_one);
    read_layer_group(f, g, model, group);
    model.layers.push_back(group);
  });
  f.flag("interleaved", model.interleaved, base::optional);
  f.each(
      "mtp",
      [&](Fields& g) {
        LayerGroup group;
        g.integer("count", group.count, base::at_least_one);
        read_layer_group(f, g, model, group);
        model.mtp.push_back(group);
      },
      base::optional);
}

}  // namespace

void read(Fields& f, Architecture& model) {
  model.id = f.node().reference;
  f.text("name", model.name);
  model.native_precision = read_named(f, "native_precision");
  f.integer("max_context", model.max_context, base::at_least_one);
  f.integer("hidden", model.hidden, base::at_least_one);
  const base::Need vocabulary = f.has("recommender") ? base::optional : base::required;
  f.integer("vocab", model.vocab, base::at_least_one, vocabulary);
  f.flag("tied_embeddings", model.tied_embeddings, vocabulary);
  f.flag("autoregressive", model.autoregressive, base::optional);
  f.integer("denoising_steps", model.denoising_steps, base::at_least_one, base::optional);
  if (model.autoregressive && model.denoising_steps > 1) {
    f.problem("denoising_steps", "are of models with autoregressive: false");
  }
  f.group(
      "attention", [&](Fields& g) { read_attention(g, model.attention); }, base::optional);
  f.group(
      "mamba", [&](Fields& g) { read_mamba(g, model.mamba); }, base::optional);
  f.group(
      "delta_net", [&](Fields& g) { read_delta_net(g, model.delta_net); }, base::optional);
  f.group(
      "mamba1", [&](Fields& g) { read_mamba1(g, model.mamba1); }, base::optional);
  f.group(
      "mlp",
      [&](Fields& g) {
        g.integer("intermediate", model.mlp.intermediate, base::at_least_one);
        g.flag("gated", model.mlp.gated, base::optional);
      },
      base::optional);
  f.group(
      "moe", [&](Fields& g) { read_moe(g, model.moe); }, base::optional);
  f.group(
      "expert_load", [&](Fields& g) { read(g, model.moe.popularity); }, base::optional);
  read_layers(f, model);
  f.group(
      "vision",
      [&](Fields& g) {
        VisionEncoder& vision = model.vision.emplace_back();
        g.integer("patches", vision.patches, base::at_least_one);
        g.integer("merge", vision.merge, base::at_least_one, base::optional);
        g.part("encoder", [&](Fields& e) { read(e, vision.encoder); });
        if (vision.merge > 0 && vision.patches % (vision.merge * vision.merge) != 0) {
          g.problem("merge", "merge x merge must divide the patches");
        }
      },
      base::optional);
  f.group(
      "recommender", [&](Fields& g) { read(g, model.recommender.emplace(), model.hidden); },
      base::optional);
  if (model.recommender && model.autoregressive) {
    f.problem("recommender", "a recommender answers in one pass: it needs autoregressive: false");
  }
  if (model.recommender && f.has("vocab")) {
    f.problem("vocab", "a recommender has tables instead of a vocabulary");
  }
  transform(f, model);
  if (const auto told = std::ssize(model.moe.popularity.counts);
      told > 0 && told != model.moe.experts) {
    f.problem("expert_load.counts",
              fmt::format("tells of {} experts, the model has {}", told, model.moe.experts));
  }
  f.group(
      "published",
      [&](Fields& g) {
        double total = 0.0;
        double active = 0.0;
        g.number("total_parameters", total, base::positive);
        g.number("active_parameters", active, base::positive, base::optional);
        model.published_total = total;
        if (active > 0.0) {
          model.published_active = active;
        }
        g.source();
      },
      base::optional);
  f.source();
  std::vector<std::string> known_as;  // base::id_called
  f.texts("known_as", known_as);
  std::vector<std::string> notes;
  f.texts("notes", notes);
}

}  // namespace roofcast::workloads
