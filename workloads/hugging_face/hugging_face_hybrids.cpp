// SPDX-License-Identifier: Apache-2.0
//
// Families with layers of Mamba-2, and families that are refused because their layers are none that the models here have.
#include "workloads/hugging_face/hugging_face_parts.hpp"

namespace roofcast::workloads {
namespace {

using base::Node;

// Layers without a feed-forward. A state has no longest context.
void mamba2(HuggingFaceModel& m) {
  start_layers(m, "mamba", "none");
  mamba(m);
  if (m.config.node().find("max_position_embeddings") == nullptr) {
    leave_out(m, "No longest context is published: max_context stands for as long as anyone asks.");
  }
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
}

constexpr HuggingFaceKey kMamba2[] = {
    {"mamba_num_heads", "num_heads"},
    {"mamba_head_dim", "head_dim"},
    {"ssm_state_size", "state_size"},
    {"chunk_size", "chunk_size", 256},
    {"max_position_embeddings", "max_position_embeddings", 1'048'576}};
constexpr HuggingFaceKey kMambaOfHybrids[] = {{"mamba_num_heads", "mamba_n_heads"},
                                              {"mamba_head_dim", "mamba_d_head"},
                                              {"ssm_state_size", "mamba_d_state"}};

constexpr HuggingFaceFamily kHybridFamilies[] = {
    {"mamba2", "Mamba2ForCausalLM", mamba2, kMamba2},
    {"bamba", "BambaForCausalLM", bamba, kMambaOfHybrids},
    {"granitemoehybrid", "GraniteMoeHybridForCausalLM", granitemoehybrid, kMambaOfHybrids},
};

constexpr HuggingFaceRefusal kRefusals[] = {
    {"jamba", "mamba_dt_rank", "Mamba of the first kind, with a step for each channel"},
    {"mamba", "time_step_rank", "Mamba of the first kind, with a step for each channel"},
    {"falcon_mamba", "time_step_rank", "Mamba of the first kind, with a step for each channel"},
    {"falcon_h1", "mamba_d_ssm", "attention and Mamba side by side in one layer"},
    {"zamba2", "num_mem_blocks", "attention blocks that several layers share"},
    {"kimi_linear", "linear_attn_config", "a delta net with a decay for each channel"},
    {"step3_text", "share_q_dim", "queries of all heads from one low rank, beside one key"},
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
