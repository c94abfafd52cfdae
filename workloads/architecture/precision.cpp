// SPDX-License-Identifier: Apache-2.0
#include "workloads/architecture/precision.hpp"

namespace roofcast::workloads {

std::span<const base::CatalogEntry> embedded_precisions();

base::Catalog precision_catalog() { return {"precisions", "precision", embedded_precisions()}; }

bool same_formats(const Precision& a, const Precision& b) {
  return a.attention == b.attention && a.recurrent == b.recurrent && a.mlp == b.mlp &&
         a.experts == b.experts && a.shared == b.shared && a.latent == b.latent &&
         a.head == b.head && a.plain == b.plain && a.kv_cache == b.kv_cache && a.state == b.state &&
         a.index == b.index;
}

void read(base::Fields& f, Precision& precision) {
  const auto formats = base::number_format_choices();
  precision.id = f.node().reference;
  std::string name;
  f.text("name", name, base::optional);
  LinearFormat linear;
  f.choice("weights", linear.weights, formats);
  f.choice("activations", linear.activations, formats);
  f.choice("kv_cache", precision.kv_cache, formats);
  const auto component = [&](std::string_view key, LinearFormat& target, LinearFormat fallback) {
    target = fallback;
    f.group(
        key,
        [&](base::Fields& g) {
          g.choice("weights", target.weights, formats, base::optional);
          g.choice("activations", target.activations, formats, base::optional);
        },
        base::optional);
  };
  if (base::bits(linear.activations) == 16.0) {
    precision.plain = {linear.activations, linear.activations};
  }
  f.choice("state", precision.state, formats, base::optional);
  f.choice("index", precision.index, formats, base::optional);
  component("attention", precision.attention, linear);
  component("recurrent", precision.recurrent, linear);
  component("mlp", precision.mlp, linear);
  component("experts", precision.experts, linear);
  component("shared", precision.shared, precision.mlp);
  component("latent", precision.latent, linear);
  component("head", precision.head, precision.plain);
}

}  // namespace roofcast::workloads
