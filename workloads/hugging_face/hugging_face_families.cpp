// SPDX-License-Identifier: Apache-2.0
//
// The families of configurations. Each reads its keys as its class in huggingface/transformers does.
#include <algorithm>

#include "workloads/hugging_face/hugging_face_parts.hpp"

namespace roofcast::workloads {
namespace {

using base::Node;
using Layer = HuggingFaceLayer;

// Tokens of a prompt that the kernels of huggingface/transformers and of fla compute as one block.
constexpr std::int64_t kDeltaNetChunk = 64;

// Qwen2 and Qwen3: with use_sliding_window the layers from max_window_layers on have sliding attention.
void qwen_window(HuggingFaceModel& m) {
  HuggingFaceConfig& c = m.config;
  const bool no_window = c.is_null("sliding_window");
  if (!c.flag("use_sliding_window", false) || no_window) {
    return;
  }
  const auto first = static_cast<std::size_t>(c.optional("max_window_layers", 28).value);
  for (std::size_t i = first; i < m.layers.size(); ++i) {
    m.layers[i].mixer = "sliding_attention";
    m.layers[i].place = c.place_of("sliding_window");
  }
}

// The first layers are dense. Of the others every moe_layer_freq-th has experts. A list of all layers replaces this.
void dense_then_experts(HuggingFaceModel& m) {
  HuggingFaceConfig& c = m.config;
  if (const Node* list = c.list_of_layers("mlp_layer_types", m.layers.size())) {
    for (std::size_t i = 0; i < m.layers.size(); ++i) {
      const Node& item = list->items[i];
      if (item.text != "dense" && item.text != "sparse") {
        c.unknown(item, "mlp_layer_types", "layer type", {"dense", "sparse"});
        return;
      }
      m.layers[i].ffn = item.text == "dense" ? "mlp" : "moe";
    }
    c.optional("first_k_dense_replace", 0);
    c.optional("moe_layer_freq", 1);
    return;
  }
  const Figure first = c.required("first_k_dense_replace", base::not_negative);
  const Figure every = c.optional("moe_layer_freq", 1, base::at_least_one);
  for (std::size_t i = 0; i < m.layers.size(); ++i) {
    const auto layer = static_cast<std::int64_t>(i);
    const bool sparse = layer >= first.value && layer % every.value == 0;
    m.layers[i].ffn = sparse ? "moe" : "mlp";
  }
}

// Qwen: every decoder_sparse_step-th layer has experts, unless a list names it as dense.
void sparse_step(HuggingFaceModel& m) {
  HuggingFaceConfig& c = m.config;
  const std::int64_t every = c.optional("decoder_sparse_step", 1, base::at_least_one).value;
  const auto dense = c.chosen_layers("mlp_only_layers", m.layers.size());
  for (std::size_t i = 0; i < m.layers.size(); ++i) {
    const bool sparse = !dense[i] && static_cast<std::int64_t>(i + 1) % every == 0;
    m.layers[i].ffn = sparse ? "moe" : "mlp";
  }
}

void llama(HuggingFaceModel& m) {
  start_layers(m, "attention", "mlp");
  layer_types(m);
  gqa(m, {});
  window(m);
  mlp(m);
}

// Norms of query and key over all heads at once, and norms behind the layers in place of before them.
void olmo2(HuggingFaceModel& m) {
  start_layers(m, "attention", "mlp");
  gqa(m, {0, false, true});
  m.set("attention", "joint_qk_norm", true, m.config.node().place);
  mlp(m);
}

// Phi-3: every layer slides where the configuration has a window.
void phi3(HuggingFaceModel& m) {
  start_layers(m, "attention", "mlp");
  if (!m.config.is_null("sliding_window") && m.config.has("sliding_window")) {
    slide_all(m);
  }
  layer_types(m);
  gqa(m, {});
  window(m);
  mlp(m);
}

void seed_oss(HuggingFaceModel& m) {
  start_layers(m, "attention", "mlp");
  gqa(m, {128, true});
  mlp(m);
}

void mistral(HuggingFaceModel& m) {
  HuggingFaceConfig& c = m.config;
  start_layers(m, "attention", "mlp");
  const bool slides = !c.is_null("sliding_window");
  if (slides) {
    slide_all(m);
  }
  layer_types(m);
  gqa(m, {});
  if (m.mixes("sliding_attention")) {
    m.set("attention", "window", c.optional("sliding_window", 4096, base::at_least_one));
  }
  mlp(m);
}

void qwen2(HuggingFaceModel& m) {
  start_layers(m, "attention", "mlp");
  qwen_window(m);
  layer_types(m);
  gqa(m, {0, true});
  window(m);
  mlp(m);
}

void qwen3(HuggingFaceModel& m) {
  start_layers(m, "attention", "mlp");
  qwen_window(m);
  layer_types(m);
  gqa(m, {128, false, true});
  window(m);
  mlp(m);
}

void qwen3_moe(HuggingFaceModel& m) {
  HuggingFaceConfig& c = m.config;
  start_layers(m, "attention", "moe");
  const bool no_window = c.is_null("sliding_window");
  if (c.flag("use_sliding_window", false) && !no_window) {
    slide_all(m);
  }
  sparse_step(m);
  gqa(m, {0, false, true});
  window(m);
  mlp(m);
  moe(m, "moe_intermediate_size");
  popular_experts(m);
}

void mixtral(HuggingFaceModel& m) {
  start_layers(m, "attention", "moe");
  if (m.config.has("sliding_window")) {
    slide_all(m);
  }
  gqa(m, {});
  window(m);
  moe(m, "intermediate_size");
  popular_experts(m);
}

// Every full_attention_interval-th layer has full attention, the others a gated delta net.
void delta_net_layers(HuggingFaceModel& m) {
  HuggingFaceConfig& c = m.config;
  const std::int64_t every = c.optional("full_attention_interval", 4, base::at_least_one).value;
  for (std::size_t i = 0; i < m.layers.size(); ++i) {
    const bool full = static_cast<std::int64_t>(i + 1) % every == 0;
    m.layers[i].mixer = full ? "attention" : "delta_net";
  }
  layer_types(m, "delta_net");
  gqa(m, {256, false, true, true});
  window(m);
  if (!m.mixes("delta_net")) {
    return;
  }
  m.set("delta_net", "value_heads", c.optional("linear_num_value_heads", 32, base::at_least_one));
  m.set("delta_net", "key_heads", c.optional("linear_num_key_heads", 16, base::at_least_one));
  m.set("delta_net", "key_dim", c.optional("linear_key_head_dim", 128, base::at_least_one));
  m.set("delta_net", "value_dim", c.optional("linear_value_head_dim", 128, base::at_least_one));
  m.set("delta_net", "conv_kernel", c.optional("linear_conv_kernel_dim", 4, base::at_least_one));
  m.set("delta_net", "chunk", {kDeltaNetChunk, c.node().place});
}

void qwen_experts(HuggingFaceModel& m) {
  HuggingFaceConfig& c = m.config;
  mlp(m);
  if (moe(m, "moe_intermediate_size")) {
    const Figure width = c.optional("shared_expert_intermediate_size", 512);
    shared_experts(m, {1, width.place}, width);
    if (width.value > 0) {
      m.set("moe", "shared_gate", true, width.place);
    }
  }
  popular_experts(m);
}

void qwen2_moe(HuggingFaceModel& m) {
  start_layers(m, "attention", "moe");
  qwen_window(m);
  layer_types(m);
  sparse_step(m);
  gqa(m, {0, true});
  window(m);
  qwen_experts(m);
}

void qwen3_next(HuggingFaceModel& m) {
  start_layers(m, "attention", "moe");
  sparse_step(m);
  delta_net_layers(m);
  qwen_experts(m);
  mtp(m, "num_nextn_predict_layers");
}

void qwen3_5(HuggingFaceModel& m) {
  start_layers(m, "attention", "mlp");
  delta_net_layers(m);
  mlp(m);
  mtp(m, "mtp_num_hidden_layers");
}

void qwen3_5_moe(HuggingFaceModel& m) {
  start_layers(m, "attention", "moe");
  delta_net_layers(m);
  qwen_experts(m);
  mtp(m, "mtp_num_hidden_layers");
}

void dense_and_shared(HuggingFaceModel& m, bool qk_norm) {
  HuggingFaceConfig& c = m.config;
  start_layers(m, "attention", "moe");
  dense_then_experts(m);
  gqa(m, {0, false, qk_norm});
  mlp(m);
  if (moe(m, "moe_intermediate_size")) {
    shared_experts(m, c.optional("n_shared_experts", 1), c.required("moe_intermediate_size"));
  }
  mtp(m, "num_nextn_predict_layers");
}

// Its class multiplies the router in fp32.
void fp32_router(HuggingFaceModel& m) {
  if (m.feeds("moe")) {
    m.set("moe", "fp32_router", true, m.config.node().place);
  }
}

void glm4_moe(HuggingFaceModel& m) {
  dense_and_shared(m, false);
  fp32_router(m);
}

void dots1(HuggingFaceModel& m) { dense_and_shared(m, true); }

void gpt_oss(HuggingFaceModel& m) {
  HuggingFaceConfig& c = m.config;
  start_layers(m, "attention", "moe");
  for (std::size_t i = 0; i < m.layers.size(); i += 2) {
    m.layers[i].mixer = "sliding_attention";
  }
  layer_types(m);
  gqa(m, {64, true});
  if (m.mixes("sliding_attention")) {
    m.set("attention", "window", c.optional("sliding_window", 128, base::at_least_one));
  }
  moe(m, "intermediate_size");
  popular_experts(m);
}

void minimax_m2(HuggingFaceModel& m) {
  HuggingFaceConfig& c = m.config;
  start_layers(m, "attention", "moe");
  if (const Node* list = c.list_of_layers("attn_type_list", m.layers.size())) {
    const auto it = std::find_if(list->items.begin(), list->items.end(),
                                 [](const Node& item) { return item.text != "1"; });
    if (it != list->items.end()) {
      c.problem(it->place, "attn_type_list",
                "only full attention (1) is supported; lightning attention (0) is not modelled");
    }
  }
  gqa(m, {128, false, true});
  m.set("attention", "joint_qk_norm", c.flag("use_qk_norm", true), c.place_of("use_qk_norm"));
  if (moe(m, "intermediate_size")) {
    const Figure width = c.optional("shared_intermediate_size", 0);
    shared_experts(m, {1, width.place}, width);
  }
  fp32_router(m);
  if (c.has("num_mtp_modules") && c.flag("use_mtp", true)) {
    mtp(m, "num_mtp_modules");
    const auto layers = c.optional("mtp_transformer_layers", 1, {1.0, 100.0}).value;
    const HuggingFaceLayers one = m.mtp;
    for (std::int64_t i = 1; i < layers; ++i) {
      m.mtp.insert(m.mtp.end(), one.begin(), one.end());
    }
  }
}

// Llama 4: intermediate_size is the width of the experts and of the shared expert, intermediate_size_mlp that of dense
// layers. Layers without rotary embedding attend to everything, the others within a chunk.
void llama4(HuggingFaceModel& m) {
  HuggingFaceConfig& c = m.config;
  start_layers(m, "attention", "mlp");
  const bool chunked = !c.is_null("attention_chunk_size");
  const Node* rope = c.find("no_rope_layers");
  rope = rope != nullptr && rope->is_sequence() && rope->items.empty()
             ? nullptr
             : c.list_of_layers("no_rope_layers", m.layers.size());
  const std::int64_t interval = c.optional("no_rope_layer_interval", 4, base::at_least_one).value;
  for (std::size_t i = 0; i < m.layers.size(); ++i) {
    const bool has_rope = rope != nullptr ? rope->items[i].text != "0"
                                          : static_cast<std::int64_t>(i + 1) % interval != 0;
    m.layers[i].mixer = chunked && has_rope ? "chunked_attention" : "attention";
  }
  layer_types(m);
  const std::int64_t step = c.optional("interleave_moe_layer_step", 1, base::at_least_one).value;
  const auto listed = c.chosen_layers("moe_layers", m.layers.size());
  for (std::size_t i = 0; i < m.layers.size(); ++i) {
    const bool sparse =
        c.has("moe_layers") ? listed[i] : static_cast<std::int64_t>(i + 1) % step == 0;
    m.layers[i].ffn = sparse ? "moe" : "mlp";
  }
  gqa(m, {128, false, true});
  if (m.mixes("chunked_attention")) {
    m.set("attention", "window", c.optional("attention_chunk_size", 8192, base::at_least_one));
  }
  mlp(m, "intermediate_size_mlp");
  if (moe(m, "intermediate_size")) {
    const Figure width = c.required("intermediate_size");
    shared_experts(m, {1, width.place}, width);
  }
  popular_experts(m);
}

void sparse_index(HuggingFaceModel& m, std::int64_t heads) {
  HuggingFaceConfig& c = m.config;
  Node& index = m.document["attention"]["index"];
  const auto set = [&](std::string_view key, const Figure& figure) {
    index[key] = base::scalar_node(std::to_string(figure.value), figure.place);
  };
  set("heads", c.optional("index_n_heads", heads, base::at_least_one));
  set("dim", c.optional("index_head_dim", 128, base::at_least_one));
  set("top_k", c.optional("index_topk", 2048, base::at_least_one));
  const bool listed = c.has("indexer_types") || c.has("index_topk_pattern");
  if (listed || c.optional("index_topk_freq", 1).value > 1) {
    m.notes.emplace_back(
        "Some layers read what the index of an earlier layer chose; here each has its own index.");
  }
}

void deepseek(HuggingFaceModel& m) {
  HuggingFaceConfig& c = m.config;
  start_layers(m, "attention", "mlp");
  if (!c.is_null("n_routed_experts")) {
    dense_then_experts(m);
  }
  mla(m);
  mlp(m);
  if (moe(m, "moe_intermediate_size")) {
    shared_experts(m, c.optional("n_shared_experts", 0), c.required("moe_intermediate_size"));
  }
  mtp(m, "num_nextn_predict_layers");
}

// Its class has no bias; topk_method says where a file has one nevertheless.
void deepseek_v2(HuggingFaceModel& m) {
  deepseek(m);
  if (m.config.text("topk_method") != "noaux_tc") {
    popular_experts(m);
  }
}

void deepseek_v3(HuggingFaceModel& m) {
  deepseek(m);
  if (m.config.has("index_topk")) {
    sparse_index(m, 64);
  }
}

void deepseek_v32(HuggingFaceModel& m) {
  deepseek(m);
  sparse_index(m, 64);
}

void glm_moe_dsa(HuggingFaceModel& m) {
  deepseek(m);
  sparse_index(m, 32);
}

constexpr HuggingFaceKey kQwen2Moe[] = {
    {"shared_expert_intermediate_size", "shared_expert_intermediate_size", 5632}};

constexpr HuggingFaceFamily kOtherFamilies[] = {
    {"llama", "LlamaForCausalLM", llama},
    {"llama4_text", "Llama4ForCausalLM", llama4},
    {"granite", "GraniteForCausalLM", llama},
    {"smollm3", "SmolLM3ForCausalLM", llama, {}, true},
    {"seed_oss", "SeedOssForCausalLM", seed_oss},
    {"olmo2", "Olmo2ForCausalLM", olmo2},
    {"phi3", "Phi3ForCausalLM", phi3},
    {"mistral", "MistralForCausalLM", mistral},
    {"mixtral", "MixtralForCausalLM", mixtral},
    {"qwen2", "Qwen2ForCausalLM", qwen2},
    {"qwen2_moe", "Qwen2MoeForCausalLM", qwen2_moe, kQwen2Moe},
    {"qwen3", "Qwen3ForCausalLM", qwen3},
    {"qwen3_moe", "Qwen3MoeForCausalLM", qwen3_moe},
    {"qwen3_next", "Qwen3NextForCausalLM", qwen3_next},
    {"qwen3_5_text", "Qwen3_5ForCausalLM", qwen3_5},
    {"qwen3_5_moe_text", "Qwen3_5MoeForCausalLM", qwen3_5_moe},
    {"deepseek_v2", "DeepseekV2ForCausalLM", deepseek_v2},
    {"deepseek_v3", "DeepseekV3ForCausalLM", deepseek_v3},
    {"deepseek_v32", "DeepseekV32ForCausalLM", deepseek_v32},
    {"kimi_k2", "DeepseekV3ForCausalLM", deepseek_v3},
    {"glm4_moe", "Glm4MoeForCausalLM", glm4_moe},
    {"dots1", "Dots1ForCausalLM", dots1},
    {"glm4_moe_lite", "Glm4MoeLiteForCausalLM", deepseek},
    {"glm_moe_dsa", "GlmMoeDsaForCausalLM", glm_moe_dsa},
    {"gpt_oss", "GptOssForCausalLM", gpt_oss},
    {"minimax_m2", "MiniMaxM2ForCausalLM", minimax_m2},
    {"nemotron_h", "NemotronHForCausalLM", nemotron_h},
    {"nemotron-nas", "DeciLMForCausalLM", nemotron_nas},
};

}  // namespace

const std::vector<HuggingFaceFamily>& hugging_face_families() {
  static const std::vector<HuggingFaceFamily> all = [] {
    std::vector<HuggingFaceFamily> families(std::begin(kOtherFamilies), std::end(kOtherFamilies));
    for (const auto& more :
         {gated_families(), plain_families(), expert_families(), hybrid_families()}) {
      families.insert(families.end(), more.begin(), more.end());
    }
    return families;
  }();
  return all;
}

}  // namespace roofcast::workloads
