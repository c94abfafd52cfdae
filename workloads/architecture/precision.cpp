// SPDX-License-Identifier: Apache-2.0
#include "workloads/architecture/precision.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace roofcast::workloads {

std::span<const base::CatalogEntry> embedded_precisions();

base::Catalog precision_catalog() { return {"precisions", "precision", embedded_precisions()}; }

bool has_sparse_weights(const Precision& p) {
  return p.attention.storage.sparse || p.attention_output.storage.sparse ||
         p.recurrent.storage.sparse || p.mlp.storage.sparse || p.experts.storage.sparse ||
         p.shared.storage.sparse || p.latent.storage.sparse || p.head.storage.sparse;
}

bool is_meant_for(const Precision& p, std::string_view model) {
  return p.published_for.empty() ||
         std::find(p.published_for.begin(), p.published_for.end(), model) != p.published_for.end();
}

bool same_formats(const Precision& a, const Precision& b) {
  return a.attention == b.attention && a.attention_output == b.attention_output &&
         a.recurrent == b.recurrent && a.mlp == b.mlp && a.experts == b.experts &&
         a.shared == b.shared && a.latent == b.latent && a.head == b.head && a.plain == b.plain &&
         a.kv_cache == b.kv_cache && a.state == b.state && a.index == b.index;
}

namespace {

// Block formats have the group of their scales in their name.
void read_storage(base::Fields& f, LinearFormat& format) {
  f.integer("group_size", format.storage.group_size, {1.0, 1e9}, base::optional);
  if (f.has("group_size") && base::bits(format.weights) >= 16.0) {
    f.problem("group_size", fmt::format("{} weights have no scales", base::name(format.weights)));
  } else if (f.has("group_size") && format.weights != base::NumberFormat::int4 &&
             format.weights != base::NumberFormat::int8 &&
             format.weights != base::NumberFormat::fp8) {
    f.problem("group_size", fmt::format("{} has groups of its own; int4, int8 and fp8 have none",
                                        base::name(format.weights)));
  }
  f.choice<bool>("sparse", format.storage.sparse, {{"none", false}, {"2:4", true}}, base::optional);
}

}  // namespace

void read(base::Fields& f, Precision& precision) {
  const auto formats = base::number_format_choices();
  precision.id = f.node().reference;
  std::string name;
  f.text("name", name, base::optional);
  f.texts("published_for", precision.published_for);
  LinearFormat linear;
  f.choice("weights", linear.weights, formats);
  f.choice("activations", linear.activations, formats);
  read_storage(f, linear);
  f.choice("kv_cache", precision.kv_cache, formats);
  const auto component = [&](std::string_view key, LinearFormat& target, LinearFormat fallback) {
    target = fallback;
    f.group(
        key,
        [&](base::Fields& g) {
          g.choice("weights", target.weights, formats, base::optional);
          g.choice("activations", target.activations, formats, base::optional);
          if (g.has("weights")) {
            target.storage.group_size = 0;  // that of other weights
          }
          read_storage(g, target);
        },
        base::optional);
  };
  if (base::bits(linear.activations) == 16.0) {
    precision.plain = {linear.activations, linear.activations};
  }
  f.choice("state", precision.state, formats, base::optional);
  f.choice("index", precision.index, formats, base::optional);
  component("attention", precision.attention, linear);
  component("attention_output", precision.attention_output, precision.attention);
  component("recurrent", precision.recurrent, linear);
  component("mlp", precision.mlp, linear);
  component("experts", precision.experts, linear);
  component("shared", precision.shared, precision.mlp);
  component("latent", precision.latent, linear);
  component("head", precision.head, precision.plain);
}

std::string read_named(base::Fields& f, std::string_view key) {
  std::string id;
  if (!f.is_map(key)) {
    f.text(key, id, base::optional);
    return id;
  }
  f.group(
      key,
      [&](base::Fields& g) {
        g.text("base", id);
        for (const std::string_view changed :
             {"weights", "activations", "group_size", "sparse", "kv_cache", "state", "index",
              "attention", "attention_output", "recurrent", "mlp", "experts", "shared", "latent",
              "head"}) {
          g.take(changed);
        }
      },
      base::optional);
  return id;
}

}  // namespace roofcast::workloads
