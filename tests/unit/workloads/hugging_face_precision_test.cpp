// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>

#include "base/document/node.hpp"
#include "tests/catch.hpp"
#include "workloads/hugging_face/hugging_face.hpp"

namespace roofcast::unit_workloads_hugging_face_precision {
namespace {

// Two layers, each with attention and a feed-forward of its kind.
const std::string kDense =
    "model_type: llama, hidden_size: 256, num_attention_heads: 8, num_key_value_heads: 4, "
    "intermediate_size: 512, num_hidden_layers: 2";
const std::string kExperts =
    "model_type: glm4_moe, hidden_size: 256, num_attention_heads: 8, num_key_value_heads: 4, "
    "intermediate_size: 512, num_hidden_layers: 2, first_k_dense_replace: 0, n_routed_experts: 8, "
    "num_experts_per_tok: 2, moe_intermediate_size: 64, n_shared_experts: 1";
const std::string kRecurrent =
    "model_type: qwen3_5_text, hidden_size: 256, num_attention_heads: 8, num_key_value_heads: 4, "
    "intermediate_size: 512, num_hidden_layers: 4";

std::string in_one_line(const base::Node& node) {
  if (!node.is_map()) {
    return node.text;
  }
  std::string text;
  for (const base::Entry& entry : node.entries) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", entry.key, in_one_line(entry.value));
  }
  return "{" + text + "}";
}

base::Node translated(const std::string& model, const std::string& more) {
  return workloads::from_hugging_face(base::parse_document(
      "config.json",
      fmt::format("{{{}, vocab_size: 1000, max_position_embeddings: 4096, {}}}", model, more)));
}

// The native precision, or nothing. Without one there is a note.
std::string precision(const std::string& model, const std::string& quantization) {
  const base::Node node = translated(model, "quantization_config: " + quantization);
  const base::Node* native = node.find("native_precision");
  CHECK((native != nullptr || node.find("notes") != nullptr));
  return native != nullptr ? in_one_line(*native) : "";
}
std::string precision(const std::string& quantization) { return precision(kDense, quantization); }

// compressed-tensors with one group.
std::string groups(const std::string& weights, const std::string& activations,
                   const std::string& more = "ignore: [lm_head, model.layers.0.mlp.gate]",
                   const std::string& targets = "Linear") {
  return precision(
      fmt::format("{{quant_method: compressed-tensors, {}, config_groups: {{group_0: "
                  "{{weights: {}, input_activations: {}, targets: ['{}']}}}}}}",
                  more, weights, activations, targets));
}

}  // namespace

TEST_CASE("Weights in a format of the catalog name its precision, others are a note", "[unit]") {
  const std::string fp8_cache = ", kv_cache_quant_algo: FP8}";
  CHECK(precision("{quant_method: fp8, weight_block_size: [128, 128]" + fp8_cache) == "fp8_block");
  CHECK(precision("{quant_method: fp8, weight_block_size: [32, 32]" + fp8_cache).empty());
  CHECK(precision("{quant_method: fp8, modules_to_not_convert: [lm_head]" + fp8_cache) == "fp8");
  CHECK(precision("{quant_method: mxfp4}").empty());
  CHECK(precision(kExperts, "{quant_method: mxfp4}") == "mxfp4_experts");
  CHECK(precision("{quant_method: modelopt, quant_algo: NVFP4" + fp8_cache) == "nvfp4");
  CHECK(precision("{quant_method: modelopt, quant_algo: NVFP4, group_size: 32}").empty());
  CHECK(precision("{quant_method: modelopt, quant_algo: MIXED_PRECISION}").empty());
  CHECK(precision("{quant_method: awq, bits: 4, group_size: 128}") == "w4a16");
  CHECK(precision("{quant_method: gptq, bits: 4, group_size: 32}") ==
        "{base: w4a16, group_size: 32}");
  CHECK(precision("{quant_method: gptq, bits: 8}") == "w8a16");
  CHECK(precision("{quant_method: gptq, bits: 8, group_size: -1}") == "w8a16");
  CHECK(precision("{quant_method: gptq, bits: 8, group_size: 128}") ==
        "{base: w8a16, group_size: 128}");
  CHECK(precision("{quant_method: gptq, bits: 3}").empty());
  CHECK(precision("{quant_method: bitsandbytes}").empty());
  const std::string cache = "kv_cache_scheme: {type: float, num_bits: 8}";
  CHECK(groups("{type: float, num_bits: 8, strategy: channel}", "{num_bits: 8}", cache) == "fp8");
  CHECK(groups("{type: float, num_bits: 8, strategy: block}", "{num_bits: 8}", cache) ==
        "fp8_block");
  CHECK(groups("{type: float, num_bits: 4, group_size: 16}", "{num_bits: 4}", cache) == "nvfp4");
  CHECK(groups("{type: int, num_bits: 4, group_size: 32}", "null") ==
        "{base: w4a16, group_size: 32}");
  CHECK(groups("{type: int, num_bits: 8}", "{num_bits: 8}") == "int8");
  CHECK(groups("{type: int, num_bits: 8, strategy: channel}", "{type: int, num_bits: 8}") ==
        "int8");
  CHECK(groups("{type: int, num_bits: 8, strategy: group, group_size: 32}",
               "{type: int, num_bits: 8}")
            .empty());
  CHECK(groups("{type: int, num_bits: 8}", "{type: float, num_bits: 8}").empty());
  CHECK(groups("{type: int, num_bits: 8, strategy: channel}", "null") == "w8a16");
}

TEST_CASE("The KV cache has the format that the file names, or 16 bits with a note", "[unit]") {
  CHECK(precision("{quant_method: fp8}") == "{base: fp8, kv_cache: bf16}");
  CHECK(precision("{quant_method: modelopt, quant_algo: NVFP4, kv_cache_quant_algo: null}") ==
        "{base: nvfp4, kv_cache: bf16}");
  CHECK(precision("{quant_method: modelopt, quantization: {quant_algo: FP8, kv_cache_quant_algo: "
                  "FP8}}") == "fp8");
  CHECK(groups("{type: int, num_bits: 4, group_size: 128}", "null",
               "kv_cache_scheme: {type: float, num_bits: 8}") == "{base: w4a16, kv_cache: fp8}");
  CHECK(translated(kDense, "quantization_config: {quant_method: fp8}").find("notes") != nullptr);
}

TEST_CASE(
    "Parts that are left out of a quantisation are in 16 bits, in some layers only are not known",
    "[unit]") {
  const std::string plain = "{weights: bf16, activations: bf16}";
  const std::string attention = fmt::format("{{base: w4a16, attention: {}}}", plain);
  CHECK(precision("{quant_method: awq, bits: 4, modules_to_not_convert: [self_attn]}") ==
        attention);
  CHECK(precision("{quant_method: awq, bits: 4, modules_to_not_convert: [q_proj]}").empty());
  CHECK(
      precision("{quant_method: awq, bits: 4, modules_to_not_convert: [model.layers.0]}").empty());
  CHECK(precision("{quant_method: awq, bits: 4, modules_to_not_convert: [model.layers.0.self_attn, "
                  "model.layers.1.self_attn]}") == attention);
  CHECK(precision("{quant_method: awq, bits: 4, modules_to_not_convert: [something]}").empty());
  CHECK(precision(kRecurrent,
                  "{quant_method: gptq, bits: 4, dynamic: {lm_head: {}, '-:.*attn.*': {}, "
                  "'-:.*shared_expert.*': {}, '-:.*mtp.*': {}}}") ==
        fmt::format("{{base: w4a16, attention: {0}, recurrent: {0}}}", plain));
  CHECK(precision("{quant_method: gptq, bits: 4, dynamic: {'+:.*down.*': {bits: 8}}}").empty());
  CHECK(precision(kExperts,
                  "{quant_method: modelopt, quantization: {quant_algo: FP8, kv_cache_quant_algo: "
                  "FP8, exclude_modules: ['model.layers.*.self_attn*', '*shared_experts*']}}") ==
        fmt::format("{{base: fp8, attention: {0}, shared: {0}}}", plain));
  CHECK(groups("{type: float, num_bits: 8}", "{num_bits: 8}",
               "kv_cache_scheme: {type: float, num_bits: 8}, ignore: "
               "['re:.*mlp[.](gate|up|down)_proj']")
            .empty());
  CHECK(groups("{type: float, num_bits: 8}", "{num_bits: 8}",
               "kv_cache_scheme: {type: float, num_bits: 8}, ignore: "
               "['re:.*mlp.(gate|up|down)_proj$']") ==
        fmt::format("{{base: fp8, mlp: {}}}", plain));
  CHECK(groups("{type: float, num_bits: 8}", "{num_bits: 8}",
               "kv_cache_scheme: {type: float, num_bits: 8}",
               "re:.*mlp.*") == fmt::format("{{base: fp8, attention: {}}}", plain));
  CHECK(
      precision("{quant_method: modelopt, quant_algo: NVFP4, kv_cache_quant_algo: FP8, ignore: "
                "['*.q_proj', '*.k_proj', '*.v_proj']}") ==
      fmt::format("{{base: nvfp4, attention: {}, attention_output: {{weights: nvfp4, activations: "
                  "nvfp4}}}}",
                  plain));
}

TEST_CASE("Sparse weights and the format of states are read from the file", "[unit]") {
  const std::string fp8 =
      "kv_cache_scheme: {type: float, num_bits: 8}, sparsity_config: {targets: [Linear], format: ";
  const auto sparse = [&](const std::string& format) {
    return groups("{type: float, num_bits: 8}", "{num_bits: 8}", fp8 + format + "}");
  };
  CHECK(sparse("sparse-24-bitmask") == "{base: fp8, sparse: 2:4}");
  CHECK(sparse("dense") == "fp8");
  CHECK(sparse("sparse-bitmask").empty());
  const auto state = [](const std::string& type) {
    return in_one_line(*translated(kRecurrent, "dtype: bfloat16, mamba_ssm_dtype: " + type)
                            .find("native_precision"));
  };
  CHECK(state("float32") == "bf16");
  CHECK(state("float16") == "{base: bf16, state: fp16}");
}

}  // namespace roofcast::unit_workloads_hugging_face_precision
