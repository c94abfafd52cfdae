// SPDX-License-Identifier: Apache-2.0
//
// Families of attention and experts, whose keys of the experts are their own.
#include <fmt/format.h>

#include "workloads/hugging_face/hugging_face_parts.hpp"

namespace roofcast::workloads {
namespace {

using base::Node;

void olmoe(HuggingFaceModel& m) {
  start_layers(m, "attention", "moe");
  gqa(m, {0, false, true});
  m.set("attention", "joint_qk_norm", true, m.config.node().place);
  moe(m, "intermediate_size");
  popular_experts(m);
}

void phimoe(HuggingFaceModel& m) {
  start_layers(m, "attention", "moe");
  if (m.config.has("sliding_window")) {
    slide_all(m);
  }
  gqa(m, {});
  window(m);
  moe(m, "intermediate_size");
  popular_experts(m);
}

void granitemoe(HuggingFaceModel& m) {
  start_layers(m, "attention", "moe");
  gqa(m, {});
  moe(m, "intermediate_size");
  popular_experts(m);
}

// The configuration of a part, which a required key names.
HuggingFaceConfig part(HuggingFaceConfig& c, std::string_view key) {
  const Node* found = c.find(key);
  if (found == nullptr || !found->is_map()) {
    c.problem(c.place_of(key), key, fmt::format("the group \"{}\" is required", key));
  }
  return c.at(found != nullptr && found->is_map() ? *found : c.node(), key);
}

void dbrx(HuggingFaceModel& m) {
  HuggingFaceConfig& c = m.config;
  start_layers(m, "attention", "moe");
  gqa(m, {});
  HuggingFaceConfig attention = part(c, "attn_config");
  m.set("attention", "kv_heads", attention.required("kv_n_heads"));
  HuggingFaceConfig experts = part(c, "ffn_config");
  const Figure count = experts.required("moe_num_experts");
  m.set("moe", "experts", count);
  m.set("moe", "top_k", experts.required("moe_top_k"));
  m.set("moe", "intermediate", experts.required("ffn_hidden_size"));
  m.set("moe", "gated", true, count.place);
  popular_experts(m);
}

// Layers from moe_layer_start_index to moe_layer_end_index (-1: the last) have experts, every moe_layer_interval-th.
void ernie_layers(HuggingFaceModel& m) {
  HuggingFaceConfig& c = m.config;
  const auto start = c.optional("moe_layer_start_index", 1).value;
  auto end = c.optional("moe_layer_end_index", -1, {-1.0, 1e6}).value;
  end = end < 0 ? static_cast<std::int64_t>(m.layers.size()) : end;
  const auto interval = c.optional("moe_layer_interval", 1, base::at_least_one).value;
  for (std::size_t i = 0; i < m.layers.size(); ++i) {
    const auto layer = static_cast<std::int64_t>(i);
    const bool sparse = layer >= start && layer <= end && (layer + 1) % interval == 0;
    m.layers[i].ffn = sparse ? "moe" : "mlp";
  }
}

void ernie_moe(HuggingFaceModel& m) {
  HuggingFaceConfig& c = m.config;
  start_layers(m, "attention", "moe");
  ernie_layers(m);
  gqa(m, {});
  mlp(m);
  if (moe(m, "moe_intermediate_size")) {
    shared_experts(m, c.optional("moe_num_shared_experts", 2), c.required("moe_intermediate_size"));
  }
  mtp(m, "num_nextn_predict_layers");
}

// A number, or a list with the same number for each layer.
Figure of_all_layers(HuggingFaceConfig& c, std::string_view key) {
  const Node* list = c.has(key) ? c.find(key) : nullptr;
  if (list == nullptr || !list->is_sequence() || list->items.empty()) {
    return c.required(key);
  }
  for (const Node& item : list->items) {
    if (item.text != list->items.front().text) {
      c.problem(item.place, key, "layers that differ in this are not modelled");
      return {1, item.place};
    }
  }
  Node one;
  one.kind = Node::Kind::map;
  one.place = list->place;
  one[key] = list->items.front();
  return c.at(one, "").required(key);
}

void hunyuan_moe(HuggingFaceModel& m) {
  HuggingFaceConfig& c = m.config;
  refuse(c, {"use_cla"}, "layers that share keys and values are not modelled");
  start_layers(m, "attention", "moe");
  gqa(m, {0, false, true});
  const Figure experts = of_all_layers(c, "num_experts");
  const Figure width = c.required("intermediate_size");
  m.set("moe", "experts", experts);
  m.set("moe", "top_k", of_all_layers(c, "moe_topk"));
  m.set("moe", "intermediate",
        c.has("moe_intermediate_size") ? of_all_layers(c, "moe_intermediate_size") : width);
  m.set("moe", "gated", true, experts.place);
  const bool mixed = c.flag("use_mixed_mlp_moe", false);
  if (c.has("num_shared_expert")) {
    shared_experts(m, of_all_layers(c, "num_shared_expert"), width);
  } else if (mixed) {
    shared_experts(m, {1, width.place}, width);
  }
  popular_experts(m);
}

void bailing_moe(HuggingFaceModel& m) {
  HuggingFaceConfig& c = m.config;
  start_layers(m, "attention", "moe");
  const auto dense = c.optional("first_k_dense_replace", 0).value;
  for (std::size_t i = 0; i < m.layers.size() && static_cast<std::int64_t>(i) < dense; ++i) {
    m.layers[i].ffn = "mlp";
  }
  gqa(m, {});
  mlp(m);
  if (moe(m, "moe_intermediate_size")) {
    constexpr std::string_view kOwnWidth = "moe_shared_expert_intermediate_size";
    shared_experts(m, c.optional("num_shared_experts", 0),
                   c.required(c.has(kOwnWidth) ? kOwnWidth : "moe_intermediate_size"));
  }
  popular_experts(m);
  mtp(m, "num_nextn_predict_layers");
}

// Queries of all heads from one low rank. moe_layers_enum names the layers with experts: all but the first where it lacks.
void step3(HuggingFaceModel& m) {
  HuggingFaceConfig& c = m.config;
  start_layers(m, "attention", "moe");
  const bool listed = c.has("moe_layers_enum");
  const std::vector<bool> sparse = c.chosen_layers("moe_layers_enum", m.layers.size());
  for (std::size_t i = 0; i < m.layers.size(); ++i) {
    m.layers[i].ffn = (listed ? sparse[i] : i > 0) ? "moe" : "mlp";
  }
  gqa(m, {});
  m.set("attention", "q_rank", c.required("share_q_dim"));
  mlp(m);
  if (moe(m, "moe_intermediate_size")) {
    const Figure width = c.required("share_expert_dim");
    shared_experts(m, {1, width.place}, width);
  }
}

constexpr HuggingFaceKey kStep3[] = {{"num_key_value_heads", "num_attention_groups"},
                                     {"num_experts", "moe_num_experts"},
                                     {"num_experts_per_tok", "moe_top_k"},
                                     {"max_position_embeddings", "max_position_embedding", 65'536}};
constexpr HuggingFaceKey kDbrx[] = {{"hidden_size", "d_model"},
                                    {"num_hidden_layers", "n_layers"},
                                    {"num_attention_heads", "n_heads"},
                                    {"max_position_embeddings", "max_seq_len"}};
constexpr HuggingFaceKey kErnieMoe[] = {{"num_experts", "moe_num_experts"},
                                        {"num_experts_per_tok", "moe_k"},
                                        {"attention_bias", "use_bias"}};
constexpr HuggingFaceKey kBailing[] = {{"attention_bias", "use_qkv_bias"}};

constexpr HuggingFaceFamily kExpertFamilies[] = {
    {"olmoe", "OlmoeForCausalLM", olmoe},
    {"phimoe", "PhimoeForCausalLM", phimoe},
    {"granitemoe", "GraniteMoeForCausalLM", granitemoe},
    {"dbrx", "DbrxForCausalLM", dbrx, kDbrx},
    {"ernie4_5_moe", "Ernie4_5_MoeForCausalLM", ernie_moe, kErnieMoe, true},
    {"hunyuan_v1_moe", "HunYuanMoEV1ForCausalLM", hunyuan_moe},
    {"bailing_moe", "BailingMoeForCausalLM", bailing_moe, kBailing},
    {"step3_text", "Step3TextForCausalLM", step3, kStep3},
};

}  // namespace

std::span<const HuggingFaceFamily> expert_families() { return kExpertFamilies; }

}  // namespace roofcast::workloads
