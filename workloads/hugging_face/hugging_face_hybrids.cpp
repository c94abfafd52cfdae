// SPDX-License-Identifier: Apache-2.0
//
// Families with layers of Mamba or of a delta net, and families that are refused because their layers are none that the
// models here have.
#include <fmt/format.h>

#include <utility>

#include "workloads/hugging_face/hugging_face_parts.hpp"

namespace roofcast::workloads {
namespace {

using base::Node;

// A state has no longest context.
void without_longest_context(HuggingFaceModel& m) {
  if (m.config.node().find("max_position_embeddings") == nullptr) {
    leave_out(m, "No longest context is published: max_context stands for as long as anyone asks.");
  }
}

// Layers without a feed-forward.
void mamba2(HuggingFaceModel& m) {
  start_layers(m, "mamba", "none");
  mamba(m);
  without_longest_context(m);
}

// Mamba of the first kind. `auto`: a sixteenth of the hidden width.
enum class SelectionNorm { none, plain, weighted };
void mamba1_mixer(HuggingFaceModel& m, const Figure& inner, SelectionNorm norm) {
  constexpr std::int64_t kAutoRank = 16;
  HuggingFaceConfig& c = m.config;
  const base::Place place = c.place_of("time_step_rank");
  const bool automatic = !c.has("time_step_rank") || c.text("time_step_rank") == "auto";
  const Figure rank =
      automatic ? Figure{(c.required("hidden_size").value + kAutoRank - 1) / kAutoRank, place}
                : c.required("time_step_rank");
  m.set("mamba1", "inner", inner);
  m.set("mamba1", "state", c.required("state_size"));
  m.set("mamba1", "step_rank", rank);
  m.set("mamba1", "conv_kernel", c.optional("conv_kernel", 4, base::at_least_one));
  if (norm != SelectionNorm::none) {
    m.set("mamba1", "selection_norm", true, place);
    m.set("mamba1", "selection_norm_weights", norm == SelectionNorm::weighted, place);
  }
}

// The width of the mixer, which a file may say beside the factor: Falcon's has another factor than it has a width.
void mamba1_layers(HuggingFaceModel& m, SelectionNorm norm) {
  HuggingFaceConfig& c = m.config;
  start_layers(m, "mamba1", "none");
  mamba1_mixer(
      m,
      c.has("intermediate_size")
          ? c.required("intermediate_size")
          : times(c.required("hidden_size"), c.optional("expand", 2, base::at_least_one).value),
      norm);
  without_longest_context(m);
}
void mamba1(HuggingFaceModel& m) { mamba1_layers(m, SelectionNorm::none); }
void falcon_mamba(HuggingFaceModel& m) { mamba1_layers(m, SelectionNorm::plain); }

// Which layers are every `period`-th from `offset` on.
std::vector<bool> layers_at(HuggingFaceModel& m, std::string_view period_key,
                            std::string_view offset_key) {
  const Figure period = m.config.required(period_key);
  const Figure offset = m.config.required(offset_key, base::not_negative);
  std::vector<bool> chosen(m.layers.size(), false);
  if (period.value > 0 && offset.value >= period.value) {
    m.config.problem(offset.place, offset_key, fmt::format("must be less than {}", period_key));
  }
  for (std::size_t i = 0; period.value > 0 && i < chosen.size(); ++i) {
    chosen[i] = static_cast<std::int64_t>(i) % period.value == offset.value;
  }
  return chosen;
}

// One mixture with a single expert is an MLP.
void jamba(HuggingFaceModel& m) {
  HuggingFaceConfig& c = m.config;
  start_layers(m, "mamba1", "mlp");
  const std::vector<bool> attends = layers_at(m, "attn_layer_period", "attn_layer_offset");
  const bool dense = c.required("num_experts").value <= 1;
  const std::vector<bool> experts =
      dense ? std::vector<bool>(m.layers.size(), false)
            : layers_at(m, "expert_layer_period", "expert_layer_offset");
  for (std::size_t i = 0; i < m.layers.size(); ++i) {
    m.layers[i].mixer = attends[i] ? "attention" : "mamba1";
    m.layers[i].ffn = experts[i] ? "moe" : "mlp";
  }
  if (m.mixes("attention")) {
    gqa(m, {});
  }
  mamba1_mixer(m, times(c.required("hidden_size"), c.required("expand").value),
               SelectionNorm::weighted);
  mlp(m);
  moe(m, "intermediate_size");
  popular_experts(m);
}

void bamba(HuggingFaceModel& m) {
  start_layers(m, "mamba", "mlp");
  const auto attends = m.config.chosen_layers("attn_layer_indices", m.layers.size());
  for (std::size_t i = 0; i < m.layers.size(); ++i) {
    m.layers[i].mixer = attends[i] ? "attention" : "mamba";
  }
  gqa(m, {});
  mamba(m);
  mlp(m);
}

// With num_local_experts 0 every layer has one MLP of shared_intermediate_size.
void granitemoehybrid(HuggingFaceModel& m) {
  HuggingFaceConfig& c = m.config;
  const bool dense = c.has("num_local_experts") && c.optional("num_local_experts", 0).value == 0;
  start_layers(m, "mamba", dense ? "mlp" : "moe");
  const Node* list = c.list_of_layers("layer_types", m.layers.size());
  for (std::size_t i = 0; list != nullptr && i < m.layers.size(); ++i) {
    const Node& item = list->items[i];
    if (item.text != "mamba" && item.text != "attention") {
      c.unknown(item, "layer_types", "layer type", {"mamba", "attention"});
      return;
    }
    m.layers[i].mixer = item.text == "mamba" ? "mamba" : "attention";
    m.layers[i].place = item.place;
  }
  if (m.mixes("attention")) {
    gqa(m, {});
  }
  if (m.mixes("mamba")) {
    mamba(m);
  }
  mlp(m, "shared_intermediate_size");
  if (moe(m, "intermediate_size")) {
    const Figure width = c.optional("shared_intermediate_size", 1024);
    shared_experts(m, {1, width.place}, width);
  }
  popular_experts(m);
}

// Attention and Mamba side by side in every layer. Each has a projection of its own, so they are two layers here.
void falcon_h1(HuggingFaceModel& m) {
  HuggingFaceConfig& c = m.config;
  start_layers(m, "mamba", c.flag("mamba_use_mlp", true) ? "mlp" : "none");
  const HuggingFaceLayers layers = std::exchange(m.layers, {});
  for (const HuggingFaceLayer& layer : layers) {
    m.layers.push_back({.mixer = "attention", .ffn = "none", .place = layer.place});
    m.layers.push_back(layer);
  }
  leave_out(
      m,
      "Attention and Mamba of a layer read the same input; here they are two layers, one after "
      "the other, each with a norm.");
  gqa(m, {});
  mamba(m);
  const Figure heads = c.required("mamba_num_heads");
  const Figure inner = c.optional("mamba_d_ssm", 0);
  const Figure width = c.required("mamba_head_dim");
  if (inner.value > 0 && inner.value != heads.value * width.value) {
    c.problem(inner.place, "mamba_d_ssm",
              fmt::format("must be mamba_n_heads x mamba_d_head, {}", heads.value * width.value));
  }
  mlp(m);
}

// Kimi delta attention in most layers, latent attention in the others. Layers are counted from 1.
void kimi_linear(HuggingFaceModel& m) {
  constexpr std::int64_t kChunk =
      64;  // tokens of a prompt that the kernels of fla compute as one block
  HuggingFaceConfig& c = m.config;
  start_layers(m, "attention", "moe");
  const auto dense = c.optional("first_k_dense_replace", 0).value;
  const auto every = c.optional("moe_layer_freq", 1, base::at_least_one).value;
  const Node* node = c.find("linear_attn_config");
  if (node == nullptr || !node->is_map()) {
    c.required("linear_attn_config");
    return;
  }
  HuggingFaceConfig linear = c.at(*node, "linear_attn_config");
  const std::vector<bool> full = linear.chosen_layers("full_attn_layers", m.layers.size(), 1);
  const std::vector<bool> recurrent = linear.chosen_layers("kda_layers", m.layers.size(), 1);
  for (std::size_t i = 0; i < m.layers.size(); ++i) {
    if (full[i] == recurrent[i]) {
      linear.problem(
          node->place, "kda_layers",
          fmt::format("layer {} must be in one of kda_layers and full_attn_layers", i + 1));
      return;
    }
    const auto layer = static_cast<std::int64_t>(i);
    m.layers[i].mixer = full[i] ? "attention" : "delta_net";
    m.layers[i].ffn = layer >= dense && layer % every == 0 ? "moe" : "mlp";
  }
  mla(m);
  const Figure heads = linear.required("num_heads");
  const Figure width = linear.required("head_dim");
  for (const std::string_view key : {"value_heads", "key_heads"}) {
    m.set("delta_net", key, heads);
  }
  for (const std::string_view key : {"key_dim", "value_dim", "gate_rank"}) {
    m.set("delta_net", key, width);
  }
  m.set("delta_net", "conv_kernel",
        linear.optional("short_conv_kernel_size", 4, base::at_least_one));
  m.set("delta_net", "chunk", {kChunk, node->place});
  leave_out(m,
            "The scan of a delta net with a decay for each channel is timed as that with one for "
            "each head.");
  mlp(m);
  if (moe(m, "moe_intermediate_size")) {
    shared_experts(m, c.optional("num_shared_experts", 0), c.required("moe_intermediate_size"));
  }
  mtp(m, "num_nextn_predict_layers");
}

constexpr HuggingFaceKey kMamba2[] = {
    {"mamba_num_heads", "num_heads"},
    {"mamba_head_dim", "head_dim"},
    {"ssm_state_size", "state_size"},
    {"chunk_size", "chunk_size", 256},
    {"max_position_embeddings", "max_position_embeddings", 1'048'576}};
constexpr HuggingFaceKey kMamba1Keys[] = {
    {"max_position_embeddings", "max_position_embeddings", 1'048'576}};
constexpr HuggingFaceKey kJamba[] = {{"state_size", "mamba_d_state"},
                                     {"conv_kernel", "mamba_d_conv"},
                                     {"expand", "mamba_expand"},
                                     {"time_step_rank", "mamba_dt_rank"}};
constexpr HuggingFaceKey kMambaOfHybrids[] = {{"mamba_num_heads", "mamba_n_heads"},
                                              {"mamba_head_dim", "mamba_d_head"},
                                              {"ssm_state_size", "mamba_d_state"}};

constexpr HuggingFaceKey kKimiLinear[] = {
    {"num_experts_per_tok", "num_experts_per_token"},
    {"n_group", "num_expert_group"},
    {"max_position_embeddings", "model_max_length", 1'048'576}};

constexpr HuggingFaceFamily kHybridFamilies[] = {
    {"mamba2", "Mamba2ForCausalLM", mamba2, kMamba2},
    {"mamba", "MambaForCausalLM", mamba1, kMamba1Keys, true},
    {"falcon_mamba", "FalconMambaForCausalLM", falcon_mamba, kMamba1Keys, true},
    {"jamba", "JambaForCausalLM", jamba, kJamba},
    {"bamba", "BambaForCausalLM", bamba, kMambaOfHybrids},
    {"granitemoehybrid", "GraniteMoeHybridForCausalLM", granitemoehybrid, kMambaOfHybrids},
    {"falcon_h1", "FalconH1ForCausalLM", falcon_h1, kMambaOfHybrids},
    {"kimi_linear", "KimiLinearForCausalLM", kimi_linear, kKimiLinear},
};

constexpr HuggingFaceRefusal kRefusals[] = {
    {"zamba2", "num_mem_blocks", "attention blocks that several layers share"},
    {"recurrent_gemma", "lru_width", "linear recurrent units"},
    {"rwkv", "attention_hidden_size", "RWKV's recurrence"},
    {"lfm2", "conv_L_cache", "short convolutions in place of attention"},
    {"gemma3n_text", "hidden_size_per_layer_input", "embeddings of their own in every layer"},
    {"longcat_flash", "zero_expert_num", "experts that compute nothing"},
    {"arctic", "parallel_attn_mlp_res", "a dense feed-forward beside the experts' layer"},
    {"minimax", "layer_types", "lightning attention"},
    {"minimax_text_01", "attn_type_list", "lightning attention"},
};

}  // namespace

std::span<const HuggingFaceFamily> hybrid_families() { return kHybridFamilies; }

std::span<const HuggingFaceRefusal> hugging_face_refusals() { return kRefusals; }

}  // namespace roofcast::workloads
