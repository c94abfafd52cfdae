// SPDX-License-Identifier: Apache-2.0
//
// A model's architecture: the dimensions that decide parameters, work and cache.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/catalog.hpp"
#include "base/fields.hpp"

namespace roofcast::workloads {

enum class AttentionKind { gqa, mla };

// Grouped-query attention (multi-head when kv_heads = query_heads), or multi-head latent attention
// (DeepSeek-V2, arXiv 2405.04434), whose cache is one vector of kv_rank + rope_dim a token for all
// heads.
struct AttentionShape {
  AttentionKind kind = AttentionKind::gqa;
  std::int64_t query_heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t window = 0;  // of sliding_attention layers, in tokens
  bool qkv_bias = false;
  bool qk_norm = false;
  // MLA
  std::int64_t q_rank = 0;
  std::int64_t kv_rank = 0;
  std::int64_t nope_dim = 0;
  std::int64_t rope_dim = 0;
  std::int64_t value_dim = 0;
};

struct MlpShape {
  std::int64_t intermediate = 0;
  bool gated = true;
};

struct MoeShape {
  std::int64_t experts = 0;
  std::int64_t top_k = 0;
  std::int64_t intermediate = 0;
  bool gated = true;
  std::int64_t shared_experts = 0;
  std::int64_t shared_intermediate = 0;
};

enum class Mixer { attention, sliding_attention };
enum class Ffn { mlp, moe };

struct LayerGroup {
  std::int64_t count = 0;
  Mixer mixer = Mixer::attention;
  Ffn ffn = Ffn::mlp;
};

struct Architecture {
  std::string id;
  std::string name;
  std::int64_t max_context = 0;
  std::int64_t hidden = 0;
  std::int64_t vocab = 0;
  bool tied_embeddings = false;
  AttentionShape attention;
  MlpShape mlp;
  MoeShape moe;
  std::vector<LayerGroup> layers;
  double published_total = 0.0;
  std::optional<double> published_active;

  std::int64_t layer_count() const;
};

void read(base::Fields& f, Architecture& architecture);

base::Catalog model_catalog();

// Parameters by component, over the whole model.
struct ParameterCount {
  double embedding = 0;
  double head = 0;       // 0 when tied to the embedding
  double attention = 0;  // projections
  double mlp = 0;        // dense layers
  double experts = 0;    // routed
  double shared = 0;     // shared experts
  double router = 0;
  double norms = 0;  // and biases
  double total() const {
    return embedding + head + attention + mlp + experts + shared + router + norms;
  }
};
ParameterCount parameters(const Architecture& architecture);
// Parameters one token touches: top_k of the experts, the head, not the embedding table.
double active_parameters(const Architecture& architecture);

}  // namespace roofcast::workloads
