// SPDX-License-Identifier: Apache-2.0
#include "workloads/architecture/architecture.hpp"

#include <algorithm>

#include "workloads/hugging_face/hugging_face.hpp"

namespace roofcast::workloads {

std::span<const base::CatalogEntry> embedded_models();

std::string_view name(Recurrence kind) {
  return kind == Recurrence::ssm ? "ssm" : kind == Recurrence::delta ? "delta" : "selective";
}

base::Catalog model_catalog() {
  static constexpr base::ForeignSchema kHuggingFace{is_hugging_face, from_hugging_face};
  return {"models", "model", embedded_models(), &kHuggingFace};
}

std::int64_t Architecture::layer_count() const {
  std::int64_t count = 0;
  for (const LayerGroup& group : layers) {
    count += group.count;
  }
  return count;
}

std::int64_t Architecture::mtp_modules() const {
  std::int64_t modules = 0;
  for (const LayerGroup& group : mtp) {
    modules += group.count;
  }
  return modules;
}

const LayerGroup& Architecture::mtp_module(std::int64_t token) const {
  std::size_t group = 0;
  for (; group + 1 < mtp.size() && token >= mtp[group].count; ++group) {
    token -= mtp[group].count;
  }
  return mtp[group];
}

std::int64_t Architecture::layers_with(Ffn ffn) const {
  std::int64_t count = 0;
  for (const LayerGroup& group : layers) {
    count += group.ffn == ffn ? group.count : 0;
  }
  return count;
}

bool Architecture::has(Mixer mixer) const {
  return std::any_of(layers.begin(), layers.end(),
                     [&](const LayerGroup& group) { return group.mixer == mixer; });
}

bool same_network(const Architecture& a, const Architecture& b) {
  return a.hidden == b.hidden && a.vocab == b.vocab && a.tied_embeddings == b.tied_embeddings &&
         a.attention == b.attention && a.mamba == b.mamba && a.delta_net == b.delta_net &&
         a.mamba1 == b.mamba1 && a.mlp == b.mlp && a.moe == b.moe && a.layers == b.layers &&
         a.interleaved == b.interleaved && a.autoregressive == b.autoregressive &&
         a.denoising_steps == b.denoising_steps && a.recommender == b.recommender &&
         std::equal(a.vision.begin(), a.vision.end(), b.vision.begin(), b.vision.end(),
                    [](const VisionEncoder& x, const VisionEncoder& y) {
                      return x.patches == y.patches && x.merge == y.merge &&
                             same_network(x.encoder, y.encoder);
                    });
}

}  // namespace roofcast::workloads
