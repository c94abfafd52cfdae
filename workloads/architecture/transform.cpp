// SPDX-License-Identifier: Apache-2.0
#include "workloads/architecture/transform.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/integers.hpp"
#include "workloads/architecture/parameters.hpp"

namespace roofcast::workloads {
namespace {

using base::as_double;
using base::Fields;

constexpr double kMost = 1e12;  // the greatest dimension or count

// n · factor; a problem where that is no whole number.
std::int64_t scaled(Fields& f, std::string_view key, std::string_view what, std::int64_t n,
                    double factor) {
  const double product = as_double(n) * factor;
  const double whole = std::round(product);
  if (!(whole >= 1.0 && whole < kMost) || std::abs(product - whole) > 1e-9 * product) {
    f.problem(key, fmt::format("makes {:.6g} of {} {}, which is not whole", product, n, what));
    return n;
  }
  return static_cast<std::int64_t>(whole);
}

bool has_experts(Fields& f, std::string_view key, const Architecture& model) {
  if (model.moe.experts == 0) {
    f.problem(key, "is for a mixture of experts; the model has no moe: group");
  }
  return model.moe.experts > 0;
}

void refine_experts(Fields& f, Architecture& model) {
  constexpr std::string_view kKey = "expert_granularity";
  double factor = 1.0;
  f.number(kKey, factor, base::positive, base::optional);
  if (!f.has(kKey) || !(factor > 0.0) || factor == 1.0 || !has_experts(f, kKey, model)) {
    return;
  }
  MoeShape& moe = model.moe;
  moe.experts = scaled(f, kKey, "experts", moe.experts, factor);
  moe.top_k = scaled(f, kKey, "experts of a token", moe.top_k, factor);
  moe.intermediate = scaled(f, kKey, "columns of an expert", moe.intermediate, 1.0 / factor);
}

enum class LatentVariant : std::uint8_t { eff, acc };

void make_latent(Fields& f, Architecture& model) {
  double ratio = 1.0;
  LatentVariant variant = LatentVariant::acc;
  const bool given = f.group(
      "latent_moe",
      [&](Fields& g) {
        g.number("ratio", ratio, base::at_least_one);
        g.choice<LatentVariant>("variant", variant,
                                {{"eff", LatentVariant::eff}, {"acc", LatentVariant::acc}});
      },
      base::optional);
  constexpr std::string_view kKey = "latent_moe.ratio";
  if (!given || !(ratio > 1.0) || !has_experts(f, kKey, model)) {
    return;
  }
  MoeShape& moe = model.moe;
  if (model.projects_latent()) {
    f.problem(kKey, fmt::format("the experts already work at a latent width, {}", moe.latent));
    return;
  }
  moe.latent = scaled(f, kKey, "columns of the hidden width", model.hidden, 1.0 / ratio);
  moe.experts = scaled(f, kKey, "experts", moe.experts, ratio);
  if (variant == LatentVariant::acc) {
    moe.top_k = scaled(f, kKey, "experts of a token", moe.top_k, ratio);
  }
}

constexpr std::int64_t kExpand = 2;

void default_mamba(Fields& f, Architecture& model) {
  constexpr std::int64_t kHeadDim = 64;
  RecurrentShape& r = model.mamba;
  r = {Recurrence::ssm, kExpand * model.hidden / kHeadDim, 8, 128, kHeadDim, 4, 128};
  if (kExpand * model.hidden % kHeadDim != 0 || r.heads % r.key_heads != 0) {
    f.problem("replace_attention.by",
              fmt::format("a hidden width of {} makes no usual Mamba-2 (heads of {} in {} groups); "
                          "give the model a mamba: group",
                          model.hidden, kHeadDim, r.key_heads));
  }
}

void default_delta_net(Fields& f, Architecture& model) {
  constexpr std::int64_t kHeadDim = 128;
  const std::int64_t heads = kExpand * model.hidden / kHeadDim;
  model.delta_net = {Recurrence::delta, heads, heads / 2, kHeadDim, kHeadDim, 4, 64};
  if (kExpand * model.hidden % kHeadDim != 0 || heads % 2 != 0) {
    f.problem("replace_attention.by",
              fmt::format("a hidden width of {} makes no usual gated delta net (an even number of "
                          "heads of {}); give the model a delta_net: group",
                          model.hidden, kHeadDim));
  }
}

void replace_attention(Fields& f, Architecture& model) {
  Mixer by = Mixer::mamba;
  std::int64_t keep_every = 1;
  std::int64_t window = model.attention.window;
  const bool given = f.group(
      "replace_attention",
      [&](Fields& g) {
        g.choice<Mixer>("by", by,
                        {{"mamba", Mixer::mamba},
                         {"delta_net", Mixer::delta_net},
                         {"sliding_attention", Mixer::sliding_attention}});
        g.integer("keep_every", keep_every, base::at_least_one);
        if (by == Mixer::sliding_attention) {
          g.integer("window", window, base::at_least_one, base::optional);
        }
      },
      base::optional);
  if (!given || keep_every <= 1) {
    return;
  }
  if (!model.has(Mixer::attention)) {
    f.problem("replace_attention", "the model has no layers of full attention");
    return;
  }
  if (by == Mixer::mamba && model.mamba.heads == 0) {
    default_mamba(f, model);
  } else if (by == Mixer::delta_net && model.delta_net.heads == 0) {
    default_delta_net(f, model);
  } else if (by == Mixer::sliding_attention && model.attention.kind == AttentionKind::mla) {
    f.problem("replace_attention.by", "latent attention (kind: mla) has no window");
  } else if (by == Mixer::sliding_attention && window == 0) {
    f.problem("replace_attention", "needs a window, here or in attention.window");
  }
  std::vector<LayerGroup> layers;
  std::int64_t seen = 0;
  for (const LayerGroup& group : model.layers) {
    if (group.mixer != Mixer::attention) {
      layers.push_back(group);
      continue;
    }
    LayerGroup kept = group;
    LayerGroup replaced = group;
    kept.count = (seen + group.count) / keep_every - seen / keep_every;
    replaced.count -= kept.count;
    replaced.mixer = by;
    replaced.kv_heads = attends(by) ? group.kv_heads : 0;
    replaced.window = by == Mixer::sliding_attention ? window : 0;
    seen += group.count;
    for (const LayerGroup& part : {replaced, kept}) {
      if (part.count > 0) {
        layers.push_back(part);
      }
    }
  }
  model.layers = layers;
  model.interleaved = true;
}

enum class Held : std::uint8_t { total, active, cache };

// Elements that one token has in the caches of full attention layers.
double cache_elements(const Architecture& model) {
  const AttentionShape& a = model.attention;
  double elements = 0.0;
  for (const LayerGroup& group : model.layers) {
    if (group.mixer == Mixer::attention) {
      elements += as_double(group.count) * (a.kind == AttentionKind::mla
                                                ? as_double(a.kv_rank + a.rope_dim)
                                                : as_double(2 * group.kv_heads * a.head_dim));
    }
  }
  return elements;
}

double held_value(const Architecture& model, Held held) {
  return held == Held::total    ? parameters(model).total()
         : held == Held::active ? active_parameters(model)
                                : cache_elements(model);
}

void hold_cache(Fields& f, Architecture& model, double target) {
  AttentionShape& a = model.attention;
  const double now = cache_elements(model);
  if (now == 0.0) {
    f.problem("hold.what", "no layer is left that keeps a cache of everything");
    return;
  }
  if (a.kind == AttentionKind::mla) {
    a.kv_rank = scaled(f, "hold.what", "elements of a token in the cache", a.kv_rank + a.rope_dim,
                       target / now) -
                a.rope_dim;
    return;
  }
  for (LayerGroup& group : model.layers) {
    if (group.mixer == Mixer::attention) {
      group.kv_heads = scaled(f, "hold.what", "KV heads", group.kv_heads, target / now);
      if (a.query_heads % group.kv_heads != 0) {
        f.problem("hold.what", fmt::format("needs {} KV heads, which do not divide {} query heads",
                                           group.kv_heads, a.query_heads));
      }
    }
  }
}

// Parameters are linear in the widths, so one factor on the widths reaches the target.
//
// used    –  share of the routed experts that counts: all, or top_k of them for active parameters
// wide    –  parameters that grow with the widths
// factor  –  new width / width
void hold_parameters(Fields& f, Architecture& model, Held held, double target, double multiple) {
  const LayerParameters sum = parameters(model).layers;
  const MoeShape& moe = model.moe;
  const double used =
      held == Held::total || moe.experts == 0 ? 1.0 : as_double(moe.top_k) / as_double(moe.experts);
  const double wide = sum.mlp + sum.experts * used;
  const double factor = 1.0 + (target - held_value(model, held)) / wide;
  if (wide == 0.0 || !(factor > 0.0 && factor < kMost)) {
    f.problem("hold.what", "the widths of the feed-forwards cannot make up for it");
    return;
  }
  const auto widen = [&](std::int64_t& width) {
    const double steps = std::round(as_double(width) * factor / multiple);
    width = static_cast<std::int64_t>(std::clamp(steps * multiple, multiple, kMost));
  };
  for (LayerGroup& group : model.layers) {
    if (group.ffn == Ffn::mlp) {
      widen(group.intermediate);
    }
  }
  if (model.layers_with(Ffn::moe) > 0) {
    widen(model.moe.intermediate);
  }
}

}  // namespace

void transform(Fields& f, Architecture& model) {
  const Architecture before = model;
  refine_experts(f, model);
  make_latent(f, model);
  replace_attention(f, model);
  Held held = Held::total;
  double target = 0.0;
  std::int64_t multiple = 16;
  const bool given = f.group(
      "hold",
      [&](Fields& g) {
        g.choice<Held>("what", held,
                       {{"total parameters", Held::total},
                        {"active parameters", Held::active},
                        {"cache", Held::cache}});
        if (held != Held::cache) {
          g.number("at", target, base::positive, base::optional);
          g.integer("multiple_of", multiple, base::at_least_one, base::optional);
        }
      },
      base::optional);
  if (!given || model.layers.empty()) {
    return;
  }
  target = target > 0.0 ? target : held_value(before, held);
  if (target == held_value(model, held)) {
    return;
  }
  if (held == Held::cache) {
    hold_cache(f, model, target);
  } else {
    hold_parameters(f, model, held, target, as_double(std::max<std::int64_t>(multiple, 1)));
  }
}

}  // namespace roofcast::workloads
