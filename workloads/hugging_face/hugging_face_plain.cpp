// SPDX-License-Identifier: Apache-2.0
//
// Families whose feed-forward is two matrices without a gate: GPT-2 and what followed it, and models with squared
// ReLU or xIELU. Most are four times as wide inside as outside unless the file says their width.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "workloads/hugging_face/hugging_face_parts.hpp"

namespace roofcast::workloads {
namespace {

void plain_mlp(HuggingFaceModel& m, std::int64_t ratio = 4) {
  HuggingFaceConfig& c = m.config;
  const Figure width = c.has("intermediate_size") ? c.required("intermediate_size")
                                                  : times(c.required("hidden_size"), ratio);
  m.set("mlp", "intermediate", width);
  m.set("mlp", "gated", false, width.place);
}

void usual_plain(HuggingFaceModel& m, const GqaDefaults& defaults) {
  start_layers(m, "attention", "mlp");
  gqa(m, defaults);
  plain_mlp(m);
}

void learned_positions(HuggingFaceModel& m) {
  leave_out(m, "The table of learned positions is not counted.");
}

// One head of keys and values for all heads of queries.
void share_keys(HuggingFaceModel& m, std::string_view flag) {
  if (m.config.flag(flag, true)) {
    m.set("attention", "kv_heads", {1, m.config.place_of(flag)});
  }
}

void gpt2(HuggingFaceModel& m) {
  usual_plain(m, {0, true});
  learned_positions(m);
}

void gpt_bigcode(HuggingFaceModel& m) {
  gpt2(m);
  share_keys(m, "multi_query");
}

void gptj(HuggingFaceModel& m) {
  usual_plain(m, {});
  side_by_side(m);
}

void gpt_neox(HuggingFaceModel& m) {
  usual_plain(m, {0, true});
  if (m.config.flag("use_parallel_residual", true)) {
    side_by_side(m);
  }
}

void bloom(HuggingFaceModel& m) { usual_plain(m, {0, true}); }

void opt(HuggingFaceModel& m) {
  HuggingFaceConfig& c = m.config;
  usual_plain(m, {0, true});
  learned_positions(m);
  const Figure hidden = c.required("hidden_size");
  if (c.optional("word_embed_proj_dim", hidden.value).value != hidden.value) {
    c.problem(c.place_of("word_embed_proj_dim"), "word_embed_proj_dim",
              "embeddings of another width than hidden_size are not modelled");
  }
}

void mpt(HuggingFaceModel& m) {
  HuggingFaceConfig& c = m.config;
  start_layers(m, "attention", "mlp");
  gqa(m, {});
  plain_mlp(m, c.optional("expansion_ratio", 4, base::at_least_one).value);
  if (c.flag("learned_pos_emb", true)) {
    const base::Node* attention = c.find("attn_config");
    const base::Node* alibi = attention != nullptr ? attention->find("alibi") : nullptr;
    if (alibi == nullptr || alibi->text != "true") {
      learned_positions(m);
    }
  }
  if (const base::Node* attention = c.find("attn_config"); attention != nullptr) {
    HuggingFaceConfig a = c.at(*attention, "attn_config");
    const std::string kind = a.text("attn_type");
    if (kind == "multiquery_attention") {
      m.set("attention", "kv_heads", {1, a.place_of("attn_type")});
    } else if (a.has("kv_n_heads")) {
      m.set("attention", "kv_heads", a.required("kv_n_heads"));
    }
  }
}

// The first falcons share one head of keys and values, whatever num_kv_heads says; the later ones have num_kv_heads.
void falcon(HuggingFaceModel& m) {
  HuggingFaceConfig& c = m.config;
  usual_plain(m, {});
  const bool grouped = c.flag("new_decoder_architecture", false);
  if (!grouped) {
    m.set("attention", "kv_heads", c.required("num_attention_heads"));
    share_keys(m, "multi_query");
  }
  if (grouped || c.flag("parallel_attn", true)) {
    side_by_side(m);
  }
}

// attention_types: [[kinds of some layers, how often they come], …]; local layers see window_size tokens.
void gpt_neo(HuggingFaceModel& m) {
  HuggingFaceConfig& c = m.config;
  usual_plain(m, {});
  learned_positions(m);
  std::vector<const base::Node*> kinds;
  static const base::Node kNone;
  const base::Node* types = c.has("attention_types") ? c.find("attention_types") : nullptr;
  for (const base::Node& part : (types != nullptr ? *types : kNone).items) {
    const bool counted = part.items.size() == 2 && part.items[1].is_scalar();
    const std::string repeats = counted ? part.items[1].text : "";
    if (repeats.empty() || repeats.size() > 5 ||
        repeats.find_first_not_of("0123456789") != std::string::npos) {
      c.problem(part.place, "attention_types", "expects [[kinds, how often they come], ...]");
      return;
    }
    for (int i = std::stoi(repeats); i > 0; --i) {
      for (const base::Node& kind : part.items[0].items) {
        kinds.push_back(&kind);
      }
    }
  }
  if (types != nullptr && kinds.size() != m.layers.size()) {
    c.problem(types->place, "attention_types",
              fmt::format("has {} layers, {} are wanted", kinds.size(), m.layers.size()));
    return;
  }
  for (std::size_t i = 0; i < m.layers.size(); ++i) {
    const std::string_view kind = types != nullptr ? std::string_view(kinds[i]->text)
                                  : i % 2 == 0     ? "global"
                                                   : "local";
    if (kind != "global" && kind != "local") {
      c.unknown(*kinds[i], "attention_types", "kind of attention", {"global", "local"});
      return;
    }
    m.layers[i].mixer = kind == "local" ? "sliding_attention" : "attention";
  }
  if (m.mixes("sliding_attention")) {
    m.set("attention", "window", c.optional("window_size", 256, base::at_least_one));
  }
}

void phi(HuggingFaceModel& m) {
  usual_plain(m, {0, true});
  side_by_side(m);
}

void starcoder2(HuggingFaceModel& m) {
  start_layers(m, "attention", "mlp");
  if (m.config.has("sliding_window")) {
    slide_all(m);
  }
  layer_types(m);
  gqa(m, {0, true});
  window(m);
  plain_mlp(m);
}

void nemotron(HuggingFaceModel& m) { usual_plain(m, {}); }

void apertus(HuggingFaceModel& m) { usual_plain(m, {0, false, true}); }

constexpr HuggingFaceKey kGpt2[] = {{"hidden_size", "n_embd"},
                                    {"num_hidden_layers", "n_layer"},
                                    {"num_attention_heads", "n_head"},
                                    {"max_position_embeddings", "n_positions"},
                                    {"intermediate_size", "n_inner"}};
constexpr HuggingFaceKey kGptNeo[] = {{"num_hidden_layers", "num_layers"},
                                      {"num_attention_heads", "num_heads"}};
constexpr HuggingFaceKey kBloom[] = {{"hidden_size", "n_embed"},
                                     {"num_hidden_layers", "n_layer"},
                                     {"num_attention_heads", "n_head"},
                                     {"max_position_embeddings", "seq_length", 2048}};
constexpr HuggingFaceKey kOpt[] = {{"intermediate_size", "ffn_dim"},
                                   {"attention_bias", "enable_bias"}};
constexpr HuggingFaceKey kMpt[] = {{"hidden_size", "d_model"},
                                   {"num_hidden_layers", "n_layers"},
                                   {"num_attention_heads", "n_heads"},
                                   {"max_position_embeddings", "max_seq_len"}};
constexpr HuggingFaceKey kFalcon[] = {{"num_hidden_layers", "n_layer"},
                                      {"num_attention_heads", "n_head"},
                                      {"num_key_value_heads", "num_kv_heads"},
                                      {"attention_bias", "bias"},
                                      {"intermediate_size", "ffn_hidden_size"},
                                      {"max_position_embeddings", "max_position_embeddings", 2048}};
constexpr HuggingFaceKey kPhi[] = {{"use_qk_norm", "qk_layernorm"}};
constexpr HuggingFaceKey kStarcoder2[] = {{"attention_bias", "use_bias"}};

constexpr HuggingFaceFamily kPlainFamilies[] = {
    {"gpt2", "GPT2LMHeadModel", gpt2, kGpt2, true},
    {"gpt_bigcode", "GPTBigCodeForCausalLM", gpt_bigcode, kGpt2, true},
    {"gptj", "GPTJForCausalLM", gptj, kGpt2},
    {"gpt_neox", "GPTNeoXForCausalLM", gpt_neox},
    {"gpt_neo", "GPTNeoForCausalLM", gpt_neo, kGptNeo, true},
    {"bloom", "BloomForCausalLM", bloom, kBloom, true},
    {"opt", "OPTForCausalLM", opt, kOpt, true},
    {"mpt", "MPTForCausalLM", mpt, kMpt, true},
    {"falcon", "FalconForCausalLM", falcon, kFalcon, true},
    {"phi", "PhiForCausalLM", phi, kPhi},
    {"starcoder2", "Starcoder2ForCausalLM", starcoder2, kStarcoder2, true},
    {"nemotron", "NemotronForCausalLM", nemotron},
    {"apertus", "ApertusForCausalLM", apertus},
};

}  // namespace

std::span<const HuggingFaceFamily> plain_families() { return kPlainFamilies; }

}  // namespace roofcast::workloads
