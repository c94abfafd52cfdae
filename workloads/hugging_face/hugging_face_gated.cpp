// SPDX-License-Identifier: Apache-2.0
//
// Families of attention and a gated feed-forward, whose keys or windows differ from those of llama.
#include <string>

#include "workloads/hugging_face/hugging_face_parts.hpp"

namespace roofcast::workloads {
namespace {

constexpr std::string_view kMoreNorms =
    "Norms behind attention and feed-forward are not timed; those before them are.";
constexpr std::string_view kCapped = "Soft-capping of logits is not timed.";

void usual_gated(HuggingFaceModel& m, const GqaDefaults& defaults) {
  start_layers(m, "attention", "mlp");
  gqa(m, defaults);
  mlp(m);
}

void llama_like(HuggingFaceModel& m) { usual_gated(m, {}); }

void gemma(HuggingFaceModel& m) { usual_gated(m, {256}); }

void gemma2(HuggingFaceModel& m) {
  start_layers(m, "attention", "mlp");
  slide_between(m, "sliding_window_pattern", 2);
  gqa(m, {256});
  window(m);
  mlp(m);
  leave_out(m, kMoreNorms);
  leave_out(m, kCapped);
}

void gemma3(HuggingFaceModel& m) {
  start_layers(m, "attention", "mlp");
  slide_between(m, "sliding_window_pattern", 6);
  gqa(m, {256, false, true});
  window(m);
  mlp(m);
  // What scales its rotary embedding has scaled max_position_embeddings too.
  m.set("", "max_context", m.config.required("max_position_embeddings"));
  leave_out(m, kMoreNorms);
}

void cohere(HuggingFaceModel& m) {
  usual_gated(m, {});
  side_by_side(m);
}

void cohere2(HuggingFaceModel& m) {
  start_layers(m, "attention", "mlp");
  slide_between(m, "sliding_window_pattern", 4);
  gqa(m, {});
  window(m);
  mlp(m);
  side_by_side(m);
}

void stablelm(HuggingFaceModel& m) {
  usual_gated(m, {});
  if (m.config.flag("use_parallel_residual", false)) {
    side_by_side(m);
  }
}

// As olmo2, with a window in three of four layers.
void olmo3(HuggingFaceModel& m) {
  start_layers(m, "attention", "mlp");
  slide_between(m, "sliding_window_pattern", 4);
  gqa(m, {0, false, true});
  m.set("attention", "joint_qk_norm", true, m.config.node().place);
  window(m);
  mlp(m);
}

void glm(HuggingFaceModel& m) { usual_gated(m, {128, true}); }

void glm4(HuggingFaceModel& m) {
  usual_gated(m, {128, false});
  leave_out(m, kMoreNorms);
}

// GLM-4 and ChatGLM2 and 3, as their own class reads them.
void chatglm(HuggingFaceModel& m) {
  usual_gated(m, {});
  HuggingFaceConfig& c = m.config;
  if (!c.flag("multi_query_attention", false)) {
    m.set("attention", "kv_heads", c.required("num_attention_heads"));
  }
}

// "LLLG": L slides and G does not, over and over; the last layer never slides. Or the length of such a pattern.
void exaone4(HuggingFaceModel& m) {
  HuggingFaceConfig& c = m.config;
  start_layers(m, "attention", "mlp");
  const base::Node* pattern = c.find("sliding_window_pattern");
  const bool is_text = pattern != nullptr && pattern->text.find_first_of("LG") != std::string::npos;
  if (is_text && !c.is_null("sliding_window") && !c.has("layer_types")) {
    for (std::size_t i = 0; i + 1 < m.layers.size(); ++i) {
      if (pattern->text[i % pattern->text.size()] == 'L') {
        m.layers[i].mixer = "sliding_attention";
        m.layers[i].place = pattern->place;
      }
    }
  } else if (is_text) {
    layer_types(m);
  } else {
    slide_between(m, "sliding_window_pattern", 4);
  }
  gqa(m, {0, false, true});
  window(m);
  mlp(m);
}

void hunyuan_dense(HuggingFaceModel& m) {
  refuse(m.config, {"use_cla"}, "layers that share keys and values are not modelled");
  usual_gated(m, {0, false, true});
}

void ernie(HuggingFaceModel& m) { usual_gated(m, {128}); }

// intermediate_size is that of the gate and of the other half together.
void qwen(HuggingFaceModel& m) {
  usual_gated(m, {0, true});
  const Figure both = m.config.required("intermediate_size");
  m.set("mlp", "intermediate", {both.value / 2, both.place});
}

// Text models of 4B and more leave to the class what the first of them had.
constexpr HuggingFaceKey kGemma3[] = {
    {"sliding_window_pattern", "_sliding_window_pattern"},
    {"num_attention_heads", "num_attention_heads", 8},
    {"num_key_value_heads", "num_key_value_heads", 4},
    {"vocab_size", "vocab_size", 262208},
    {"max_position_embeddings", "max_position_embeddings", 131072}};
constexpr HuggingFaceKey kInternlm2[] = {{"attention_bias", "bias"}};
constexpr HuggingFaceKey kInternlm3[] = {{"attention_bias", "qkv_bias"}};
constexpr HuggingFaceKey kStablelm[] = {{"attention_bias", "use_qkv_bias"},
                                        {"use_qk_norm", "qk_layernorm"}};
constexpr HuggingFaceKey kChatglm[] = {{"num_hidden_layers", "num_layers"},
                                       {"vocab_size", "padded_vocab_size"},
                                       {"max_position_embeddings", "seq_length"},
                                       {"intermediate_size", "ffn_hidden_size"},
                                       {"head_dim", "kv_channels"},
                                       {"num_key_value_heads", "multi_query_group_num"},
                                       {"attention_bias", "add_qkv_bias"}};
constexpr HuggingFaceKey kExaone[] = {{"num_hidden_layers", "num_layers"}};
constexpr HuggingFaceKey kErnie[] = {{"attention_bias", "use_bias"}};
constexpr HuggingFaceKey kBaichuan[] = {{"max_position_embeddings", "model_max_length"}};
constexpr HuggingFaceKey kQwen[] = {{"max_position_embeddings", "seq_length"},
                                    {"head_dim", "kv_channels"}};

constexpr HuggingFaceFamily kGatedFamilies[] = {
    {"gemma", "GemmaForCausalLM", gemma, {}, true},
    {"gemma2", "Gemma2ForCausalLM", gemma2, {}, true},
    {"gemma3_text", "Gemma3ForCausalLM", gemma3, kGemma3, true},
    {"cohere", "CohereForCausalLM", cohere, {}, true},
    {"cohere2", "Cohere2ForCausalLM", cohere2, {}, true},
    {"internlm", "InternLMForCausalLM", llama_like, kInternlm2},
    {"internlm2", "InternLM2ForCausalLM", llama_like, kInternlm2},
    {"internlm3", "InternLM3ForCausalLM", llama_like, kInternlm3},
    {"stablelm", "StableLmForCausalLM", stablelm, kStablelm},
    {"olmo", "OlmoForCausalLM", llama_like},
    {"olmo3", "Olmo3ForCausalLM", olmo3},
    {"glm", "GlmForCausalLM", glm},
    {"glm4", "Glm4ForCausalLM", glm4},
    {"chatglm", "ChatGLMModel", chatglm, kChatglm},
    {"exaone", "ExaoneForCausalLM", llama_like, kExaone},
    {"exaone4", "Exaone4ForCausalLM", exaone4},
    {"hunyuan_v1_dense", "HunYuanDenseV1ForCausalLM", hunyuan_dense},
    {"ernie4_5", "Ernie4_5ForCausalLM", ernie, kErnie, true},
    {"minicpm", "MiniCPMForCausalLM", llama_like, {}, true},
    {"baichuan", "BaichuanForCausalLM", llama_like, kBaichuan},
    {"qwen", "QWenLMHeadModel", qwen, kQwen},
};

}  // namespace

std::span<const HuggingFaceFamily> gated_families() { return kGatedFamilies; }

}  // namespace roofcast::workloads
