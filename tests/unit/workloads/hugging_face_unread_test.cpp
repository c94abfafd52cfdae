// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "base/document/node.hpp"
#include "base/document/problems.hpp"
#include "tests/catch.hpp"
#include "workloads/hugging_face/hugging_face.hpp"

namespace roofcast::unit_workloads_hugging_face_unread {
namespace {

using Catch::Matchers::ContainsSubstring;

base::Node translated(const std::string& keys) {
  return workloads::from_hugging_face(base::parse_document(
      "config.json",
      "{hidden_size: 256, num_attention_heads: 8, intermediate_size: 512, vocab_size: 1000, "
      "max_position_embeddings: 4096, num_hidden_layers: 4, " +
          keys + "}"));
}

// The message, or nothing where it is read.
std::string refused(const std::string& keys) {
  try {
    translated(keys);
  } catch (const base::InputError& error) {
    return error.what();
  }
  return "";
}

std::string value(const std::string& keys, const std::string& path) {
  const base::Node node = translated(keys);
  const base::Node* found = node.find_path(path);
  return found != nullptr ? found->text : "";
}

const std::string kQwen =
    "model_type: qwen3_moe, num_experts: 8, num_experts_per_tok: 2, moe_intermediate_size: 64, ";
const std::string kMixtral = "model_type: mixtral, num_local_experts: 8, num_experts_per_tok: 2, ";

}  // namespace

TEST_CASE("A key that changes the work and that the family does not read is refused", "[unit]") {
  for (const std::string keys :
       {"n_shared_experts: 1", "shared_expert_intermediate_size: 64", "first_k_dense_replace: 3",
        "layer_types: [sliding_attention, full_attention, sliding_attention, full_attention]"}) {
    INFO(keys);
    CHECK_THAT(refused(kQwen + keys), ContainsSubstring("\"qwen3_moe\" does not read it"));
  }
  CHECK_THAT(refused(kMixtral + "moe_intermediate_size: 64"),
             ContainsSubstring("does not read it"));
  CHECK_THAT(refused("model_type: llama, num_kv_shared_layers: 2"),
             ContainsSubstring("num_kv_shared_layers: changes what layers compute"));
  for (const std::string keys :
       {"n_shared_experts: 0", "first_k_dense_replace: null", "moe_layer_freq: 1", "use_cla: false",
        "layer_types: [full_attention, full_attention, full_attention, full_attention]",
        "attention_dropout: 0.1, bos_token_id: 1, use_cache: true, router_aux_loss_coef: 0.1"}) {
    INFO(keys);
    CHECK(refused(kQwen + keys).empty());
  }
}

TEST_CASE("A misspelt key names the one that is missing", "[unit]") {
  CHECK_THAT(refused("model_type: llama, num_kev_value_heads: 4"),
             ContainsSubstring("unknown key; did you mean \"num_key_value_heads\"?"));
  CHECK(refused("model_type: llama, num_key_value_heads: 4, num_kev_value_heads: 4").empty());
}

TEST_CASE("Two numbers of experts, or two orders of layers, are refused", "[unit]") {
  CHECK_THAT(refused(kMixtral + "num_experts: 64"), ContainsSubstring("differs from"));
  CHECK(refused(kMixtral + "num_experts: 8").empty());
  const std::string nemotron =
      "model_type: nemotron_h, num_key_value_heads: 2, hybrid_override_pattern: '*-*-', "
      "layers_block_type: [attention, mlp, ";
  CHECK(refused(nemotron + "attention, mlp]").empty());
  CHECK_THAT(refused(nemotron + "mlp, attention]"),
             ContainsSubstring("says other layers than layers_block_type"));
}

TEST_CASE("Another model_type is advised only where the file can be read as one", "[unit]") {
  const std::string grok =
      "model_type: grok, num_local_experts: 8, num_experts_per_tok: 2, num_key_value_heads: 2";
  CHECK_THAT(refused(grok), ContainsSubstring("write that as model_type"));
  CHECK_THAT(refused(grok + ", residual_moe: true"),
             !ContainsSubstring("write that as model_type"));
}

TEST_CASE("A scaled rotary embedding stretches the longest context", "[unit]") {
  const auto longest = [](const std::string& scaling, const std::string& family = "llama") {
    return value("model_type: " + family + ", rope_scaling: " + scaling, "max_context");
  };
  CHECK(longest("{type: yarn, factor: 4.0, original_max_position_embeddings: 4096}") == "16384");
  CHECK(longest("{rope_type: yarn, factor: 2, original_max_position_embeddings: 1024}") == "4096");
  CHECK(longest("{type: linear, factor: 2.0}") == "8192");
  CHECK(longest("{type: dynamic, factor: 2.0}") == "8192");
  CHECK(longest("{rope_type: llama3, factor: 8.0}") == "4096");
  CHECK(longest("{rope_type: linear, factor: 8.0}", "gemma3_text, sliding_window: 128") == "4096");
}

TEST_CASE("Routers without a balancing bias choose unevenly, and some are multiplied in fp32",
          "[unit]") {
  CHECK(value(kMixtral + "x: 1", "expert_load.variation") == "1");
  CHECK(value(kQwen + "x: 1", "expert_load.variation") == "1");
  CHECK(value("model_type: phimoe, num_local_experts: 8, num_experts_per_tok: 2",
              "expert_load.variation") == "1");
  CHECK(value("model_type: llama4_text, num_local_experts: 8, num_experts_per_tok: 1, "
              "num_key_value_heads: 4, intermediate_size_mlp: 512",
              "expert_load.variation") == "1");
  const std::string deepseek =
      ", q_lora_rank: null, kv_lora_rank: 64, qk_nope_head_dim: 32, qk_rope_head_dim: 16, "
      "v_head_dim: 32, first_k_dense_replace: 1, n_routed_experts: 8, num_experts_per_tok: 2, "
      "moe_intermediate_size: 64, topk_method: ";
  for (const std::string method : {"greedy", "group_limited_greedy"}) {
    CHECK(value("model_type: deepseek_v2" + deepseek + method, "expert_load.variation") == "1");
  }
  CHECK(value("model_type: deepseek_v2" + deepseek + "noaux_tc", "expert_load.variation").empty());
  CHECK(value("model_type: deepseek_v3" + deepseek + "noaux_tc", "expert_load.variation").empty());
  const std::string glm =
      "model_type: glm4_moe, first_k_dense_replace: 1, n_routed_experts: 8, num_experts_per_tok: "
      "2, "
      "moe_intermediate_size: 64";
  CHECK(value(glm, "expert_load.variation").empty());
  CHECK(value(glm, "moe.fp32_router") == "true");
  CHECK(value(kQwen + "x: 1", "moe.fp32_router").empty());
}

TEST_CASE("Multi-token prediction that a family does not read is a note", "[unit]") {
  CHECK(translated("model_type: llama").find("notes") == nullptr);
  CHECK(translated("model_type: llama, num_nextn_predict_layers: 1").find("notes") != nullptr);
  CHECK(value("model_type: smollm3", "tied_embeddings") == "true");
}

}  // namespace roofcast::unit_workloads_hugging_face_unread
