// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

#include "sim/scenario/section_readers.hpp"
#include "tests/catch.hpp"
#include "workloads/architecture/parameters.hpp"
#include "workloads/hugging_face/hugging_face.hpp"

namespace roofcast::unit_workloads_hugging_face_families {

using Catch::Matchers::ContainsSubstring;

namespace {

namespace fs = std::filesystem;

fs::path folder() {
  const char* root = std::getenv("ROOFCAST_SOURCE_DIR");
  const fs::path unit =
      root != nullptr ? fs::path(root) / "tests" / "unit" : fs::absolute(__FILE__).parent_path();
  return unit / "hugging_face";
}

workloads::Architecture read(const base::Node& config) {
  base::Problems problems;
  base::Node scenario;
  scenario["model"] = workloads::from_hugging_face(config);
  workloads::Architecture model = sim::read_model(scenario, problems);
  problems.throw_if_any();
  return model;
}

workloads::Architecture read(const std::string& text) {
  return read(base::parse_document("config.json", text));
}

double number(const base::Node& row, const char* key) { return std::stod(row.find(key)->text); }

// The message, or nothing where it is read.
std::string refused(const std::string& text) {
  try {
    read(text);
  } catch (const base::InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE(
    "Configurations of more than seventy families have the parameters that their makers publish",
    "[unit]") {
  const base::Node table = base::load_document(folder() / "families.yaml");
  std::set<std::string> families;
  for (const base::Node& row : table.items) {
    const std::string family = row.find("family")->text;
    INFO(family);
    const base::Node* file = row.find("file");
    const base::Node config = file != nullptr
                                  ? base::load_document(folder() / (file->text + ".json"))
                                  : *row.find("config");
    CHECK((file != nullptr ? config.find("_source") : row.find("source")) != nullptr);
    const workloads::Architecture model = read(config);
    const workloads::ParameterCount count = workloads::parameters(model);
    const bool layers_only = row.find("counted") != nullptr;
    const double total = count.total() - (layers_only ? count.embedding + count.head : 0.0);
    CHECK(std::abs(total - number(row, "parameters")) <= number(row, "within"));
    if (row.find("active") != nullptr) {  // published to one or two digits
      CHECK(workloads::active_parameters(model) == Approx(number(row, "active")).epsilon(0.2));
    }
    families.insert(family);
  }
  CHECK(families.size() >= 76);
}

TEST_CASE("Layers slide between those that see everything, in the pattern of their family",
          "[unit]") {
  const auto sliding = [](const std::string& keys) {
    const workloads::Architecture model = read(
        "{hidden_size: 256, num_attention_heads: 8, num_key_value_heads: 4, intermediate_size: "
        "512, "
        "vocab_size: 1000, max_position_embeddings: 4096, num_hidden_layers: 12, sliding_window: "
        "128, " +
        keys + "}");
    std::int64_t count = 0;
    for (const workloads::LayerGroup& group : model.layers) {
      if (group.mixer == workloads::Mixer::sliding_attention) {
        CHECK(group.window == 128);
        count += group.count;
      }
    }
    return count;
  };
  CHECK(sliding("model_type: gemma2") == 6);
  CHECK(sliding("model_type: gemma3_text") == 10);
  CHECK(sliding("model_type: cohere2") == 9);
  CHECK(sliding("model_type: cohere2, sliding_window_pattern: 3") == 8);
  CHECK(sliding("model_type: olmo3") == 9);
  CHECK(sliding("model_type: exaone4, sliding_window_pattern: LLG") == 8);
  CHECK(sliding("model_type: exaone4, sliding_window_pattern: LLL") == 11);
  CHECK(sliding("model_type: starcoder2") == 12);
  const std::string neo = "num_layers: 12, num_heads: 8, window_size: 128, model_type: gpt_neo";
  CHECK(sliding(neo) == 6);
  CHECK(sliding(neo + ", attention_types: [[[global, local, local], 4]]") == 8);
}

TEST_CASE("Kinds of attention that do not fit the layers of GPT-Neo are refused", "[unit]") {
  const auto neo = [](const std::string& types) {
    return refused(
        "{model_type: gpt_neo, hidden_size: 256, num_layers: 4, num_heads: 8, vocab_size: 10, "
        "max_position_embeddings: 64, attention_types: " +
        types + "}");
  };
  CHECK(neo("[[[global, local], 2]]").empty());
  CHECK_THAT(neo("[[[global, local], 3]]"),
             ContainsSubstring("attention_types: has 6 layers, 4 are wanted"));
  CHECK_THAT(neo("[[[global, lokal], 2]]"),
             ContainsSubstring("unknown kind of attention \"lokal\""));
  CHECK_THAT(neo("[global, local]"), ContainsSubstring("expects [[kinds"));
}

TEST_CASE("A family's own spelling of a key is the one that a message names", "[unit]") {
  CHECK_THAT(refused("{model_type: gpt2, n_layer: 2, n_head: 2, n_positions: 64, vocab_size: 10}"),
             ContainsSubstring("the key \"n_embd\" is required"));
  CHECK_THAT(refused("{model_type: gpt2, n_embd: 0, n_layer: 2, n_head: 2, n_positions: 64, "
                     "vocab_size: 10}"),
             ContainsSubstring("n_embd:"));
  CHECK_THAT(refused("{model_type: chatglm, num_layers: 2, num_attention_heads: 2, hidden_size: 8, "
                     "padded_vocab_size: 10, seq_length: 64}"),
             ContainsSubstring("the key \"ffn_hidden_size\" is required"));
}

TEST_CASE("Heads of keys and values are shared as the family says", "[unit]") {
  const auto kv_heads = [](const std::string& keys) {
    return read(
               "{hidden_size: 256, n_embd: 256, d_model: 256, vocab_size: 1000, num_hidden_layers: "
               "2, n_layer: 2, n_layers: 2, num_attention_heads: 8, n_head: 8, n_heads: 8, "
               "n_positions: 64, max_seq_len: 64, " +
               keys + "}")
        .attention.kv_heads;
  };
  CHECK(kv_heads("model_type: falcon, num_kv_heads: 8") == 1);
  CHECK(kv_heads("model_type: falcon, multi_query: false") == 8);
  CHECK(kv_heads("model_type: falcon, new_decoder_architecture: true, num_kv_heads: 4") == 4);
  CHECK(kv_heads("model_type: gpt_bigcode") == 1);
  CHECK(kv_heads("model_type: mpt, attn_config: {attn_type: multiquery_attention}") == 1);
  CHECK(kv_heads("model_type: mpt, attn_config: {attn_type: grouped_query_attention, kv_n_heads: "
                 "2}") == 2);
}

TEST_CASE("Layers of Kimi Linear are counted from 1, and each is in one of its two lists",
          "[unit]") {
  const auto kimi = [](const std::string& lists) {
    return "{model_type: kimi_linear, hidden_size: 64, num_hidden_layers: 4, num_attention_heads: "
           "2, intermediate_size: 128, vocab_size: 100, kv_lora_rank: 16, q_lora_rank: null, "
           "qk_nope_head_dim: 8, qk_rope_head_dim: 4, v_head_dim: 8, num_experts: 8, "
           "num_experts_per_token: 2, moe_intermediate_size: 32, first_k_dense_replace: 1, "
           "linear_attn_config: {num_heads: 4, head_dim: 16, " +
           lists + "}}";
  };
  const workloads::Architecture model = read(kimi("kda_layers: [1, 2, 3], full_attn_layers: [4]"));
  CHECK(model.layers.back().mixer == workloads::Mixer::attention);
  CHECK(model.layers.front().ffn == workloads::Ffn::mlp);
  CHECK_THAT(refused(kimi("kda_layers: [1, 2], full_attn_layers: [4]")),
             ContainsSubstring("layer 3 must be in one of kda_layers and full_attn_layers"));
  CHECK_THAT(refused(kimi("kda_layers: [0, 1, 2, 3], full_attn_layers: [4]")),
             ContainsSubstring("\"0\" is no index of 4 layers"));
}

// Layers as the class lists them: layers_block_type and layers_num_experts of JambaConfig.
TEST_CASE("Jamba's attention and experts stand at their offset of each period", "[unit]") {
  const auto jamba = [](const std::string& keys) {
    return "{model_type: jamba, hidden_size: 64, num_hidden_layers: 8, num_attention_heads: 4, "
           "num_key_value_heads: 2, intermediate_size: 128, vocab_size: 100, num_experts_per_tok: "
           "2, max_position_embeddings: 64, mamba_d_state: 4, mamba_expand: 2, " +
           keys + "}";
  };
  const auto counts = [&](const std::string& keys) {
    std::int64_t attention = 0;
    std::int64_t experts = 0;
    for (const workloads::LayerGroup& group : read(jamba(keys)).layers) {
      attention += group.mixer == workloads::Mixer::attention ? group.count : 0;
      experts += group.ffn == workloads::Ffn::moe ? group.count : 0;
    }
    return std::pair(attention, experts);
  };
  const std::string every =
      "expert_layer_period: 2, expert_layer_offset: 1, attn_layer_period: 3, attn_layer_offset: ";
  CHECK(counts("num_experts: 4, " + every + "1") == std::pair<std::int64_t, std::int64_t>(3, 4));
  CHECK(counts("num_experts: 4, " + every + "2") == std::pair<std::int64_t, std::int64_t>(2, 4));
  CHECK(counts("num_experts: 1, " + every + "2") == std::pair<std::int64_t, std::int64_t>(2, 0));
  CHECK_THAT(refused(jamba("num_experts: 4, " + every + "3")),
             ContainsSubstring("attn_layer_offset: must be less than attn_layer_period"));
  CHECK(read(jamba("num_experts: 4, mamba_dt_rank: auto, " + every + "1")).mamba1.step_rank == 4);
  CHECK(read(jamba("num_experts: 4, mamba_dt_rank: 7, " + every + "1")).mamba1.step_rank == 7);
}

// Sums of their tensors, as loaded (state-spaces/mamba, benchmark_generation_mamba_simple.py prints them).
TEST_CASE("Mamba models have the parameters of their weights, to the last one", "[unit]") {
  const std::tuple<int, int, double> sizes[] = {{768, 24, 129'135'360.0},
                                                {1024, 48, 371'516'416.0},
                                                {1536, 48, 793'204'224.0},
                                                {2048, 48, 1'372'178'432.0},
                                                {2560, 64, 2'768'345'600.0}};
  for (const auto& [hidden, layers, parameters] : sizes) {
    INFO(hidden);
    const workloads::Architecture model = read(
        "{model_type: mamba, hidden_size: " + std::to_string(hidden) +
        ", num_hidden_layers: " + std::to_string(layers) + ", state_size: 16, vocab_size: 50280}");
    CHECK(workloads::parameters(model).total() == parameters);
  }
}

TEST_CASE("The layers with experts of Step-3 may be a text", "[unit]") {
  const auto experts = [](const std::string& layers) {
    std::int64_t count = 0;
    for (const workloads::LayerGroup& group :
         read("{model_type: step3_text, hidden_size: 64, num_hidden_layers: 6, "
              "num_attention_heads: 4, num_attention_groups: 1, head_dim: 16, share_q_dim: 32, "
              "intermediate_size: 128, moe_intermediate_size: 32, share_expert_dim: 32, "
              "moe_num_experts: 8, moe_top_k: 2, vocab_size: 100" +
              layers + "}")
             .layers) {
      count += group.ffn == workloads::Ffn::moe ? group.count : 0;
    }
    return count;
  };
  CHECK(experts(", moe_layers_enum: '2,3,4'") == 3);
  CHECK(experts(", moe_layers_enum: [2, 3]") == 2);
  CHECK(experts("") == 5);
}

TEST_CASE("What the layers of a family have and ours lack is refused at the key that says so",
          "[unit]") {
  CHECK_THAT(
      refused("{model_type: lfm2, conv_L_cache: 3}"),
      ContainsSubstring("config.json:1:34: error: conv_L_cache: \"lfm2\" has short convolutions"));
  CHECK_THAT(refused("{model_type: zamba2}"), ContainsSubstring("model_type: \"zamba2\" has"));
  const std::string hunyuan =
      "{model_type: hunyuan_v1_moe, hidden_size: 256, num_hidden_layers: 2, num_attention_heads: "
      "8, "
      "intermediate_size: 64, vocab_size: 1000, max_position_embeddings: 64, num_experts: 8, ";
  CHECK(refused(hunyuan + "moe_topk: [2, 2]}").empty());
  CHECK_THAT(refused(hunyuan + "moe_topk: [2, 4]}"),
             ContainsSubstring("moe_topk: layers that differ in this are not modelled"));
  CHECK_THAT(refused(hunyuan + "moe_topk: 2, use_cla: true}"),
             ContainsSubstring("use_cla: layers that share keys and values"));
  CHECK_THAT(refused("{model_type: opt, hidden_size: 1024, word_embed_proj_dim: 512, "
                     "num_hidden_layers: 24, num_attention_heads: 16, ffn_dim: 4096, vocab_size: "
                     "50272, max_position_embeddings: 2048}"),
             ContainsSubstring("word_embed_proj_dim: embeddings of another width"));
  CHECK_THAT(refused("{model_type: dbrx, d_model: 256, n_layers: 2, n_heads: 8, max_seq_len: 64, "
                     "vocab_size: 100}"),
             ContainsSubstring("the group \"attn_config\" is required"));
}

}  // namespace roofcast::unit_workloads_hugging_face_families
