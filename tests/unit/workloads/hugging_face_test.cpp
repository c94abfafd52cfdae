// SPDX-License-Identifier: Apache-2.0
#include "workloads/hugging_face/hugging_face.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "sim/decide/sweep.hpp"
#include "sim/decide/sweep_run.hpp"
#include "sim/scenario/knob.hpp"
#include "sim/scenario/references.hpp"
#include "sim/scenario/section_readers.hpp"
#include "tests/catch.hpp"
#include "tests/laws/catalog.hpp"
#include "workloads/architecture/parameters.hpp"

namespace roofcast::unit_workloads_hugging_face {

using Catch::Matchers::ContainsSubstring;
using workloads::Architecture;

namespace {

namespace fs = std::filesystem;

// Figures of published configurations; `_source` in each says where they stand.
fs::path config(const std::string& name) {
  const char* root = std::getenv("ROOFCAST_SOURCE_DIR");
  const fs::path folder =
      root != nullptr ? fs::path(root) / "tests" / "unit" : fs::absolute(__FILE__).parent_path();
  return folder / "hugging_face" / (name + ".json");
}

Architecture model_of(base::Node scenario, const std::vector<std::string>& knobs = {}) {
  base::Problems problems;
  for (const std::string& knob : knobs) {
    sim::set_knob(scenario, {"--set", knob, {}}, problems);
  }
  sim::load_references(scenario, problems);
  Architecture model = sim::read_model(scenario, problems);
  problems.throw_if_any();
  return model;
}

Architecture imported(const std::string& name, const std::vector<std::string>& knobs = {}) {
  return model_of(base::parse_document("test", "model: " + config(name).string()), knobs);
}

// The document that a configuration becomes.
base::Node translated(const std::string& name) {
  return workloads::from_hugging_face(base::load_document(config(name)));
}

// The document that a changed configuration becomes; changes are key=value of its top level.
base::Node changed(const std::string& name, const std::string& key, const std::string& json) {
  base::Node node = base::load_document(config(name));
  node[key] = base::parse_document("change", json);
  return workloads::from_hugging_face(node);
}

std::string described(const workloads::RecurrentShape& r) {
  return fmt::format(
      "heads {} key_heads {} key_dim {} value_dim {} conv {} chunk {} gate {} step "
      "{} norm {} {}",
      r.heads, r.key_heads, r.key_dim, r.value_dim, r.conv_kernel, r.chunk, r.gate_rank,
      r.step_rank, r.selection_norm, r.selection_norm_weights);
}

std::string described(const std::vector<workloads::LayerGroup>& groups, bool in_order) {
  std::vector<std::string> lines;
  for (const workloads::LayerGroup& g : groups) {
    lines.push_back(fmt::format("{} mixer {} ffn {} kv_heads {} window {} intermediate {}", g.count,
                                static_cast<int>(g.mixer), static_cast<int>(g.ffn), g.kv_heads,
                                g.window, g.intermediate));
  }
  if (!in_order) {
    std::sort(lines.begin(), lines.end());
  }
  return fmt::format("{}", fmt::join(lines, "; "));
}

// Every field that a forecast reads, one a line.
std::string described(const Architecture& m) {
  const workloads::AttentionShape& a = m.attention;
  const workloads::MoeShape& e = m.moe;
  return fmt::format(
      "max_context {} hidden {} vocab {} tied {}\n"
      "attention kind {} heads {} kv {} dim {} window {} bias {} norm {} {} gate {}\n"
      "mla q {} kv {} nope {} rope {} value {} index {} {} {}\n"
      "mamba {}\ndelta_net {}\nmamba1 {}\nmlp {} gated {}\n"
      "moe experts {} top_k {} groups {} of {} width {} gated {} shared {} x {} gate {} latent {}\n"
      "router fp32 {} popularity {}\n"
      "layers {} interleaved {}\n",
      m.max_context, m.hidden, m.vocab, m.tied_embeddings, static_cast<int>(a.kind), a.query_heads,
      a.kv_heads, a.head_dim, a.window, a.qkv_bias, a.qk_norm, a.joint_qk_norm, a.output_gate,
      a.q_rank, a.kv_rank, a.nope_dim, a.rope_dim, a.value_dim, a.index.heads, a.index.dim,
      a.index.top_k, described(m.mamba), described(m.delta_net), described(m.mamba1),
      m.mlp.intermediate, m.mlp.gated, e.experts, e.top_k, e.groups.kept, e.groups.count,
      e.intermediate, e.gated, e.shared_experts, e.shared_intermediate, e.shared_gate, e.latent,
      e.fp32_router, e.popularity.variation, described(m.layers, !m.interleaved), m.interleaved);
}

struct Twin {
  std::string config;
  std::string id;            // of the catalog
  bool same_weights = true;  // the catalog describes the release with this configuration
};
const std::vector<Twin>& twins() {
  static const std::vector<Twin> all = {
      {"llama-3.1-8b", "llama-3.1-8b"},
      {"mistral-7b", "mistral-7b"},
      {"mixtral-8x7b", "mixtral-8x7b"},
      {"qwen2.5-7b", "qwen2.5-7b"},
      {"qwen3-32b", "qwen3-32b"},
      {"qwen3-235b-a22b", "qwen3-235b-a22b"},
      {"deepseek-v2", "deepseek-v2"},
      {"deepseek-v3", "deepseek-v3"},
      {"deepseek-v3.2", "deepseek-v3.2"},
      {"kimi-k2", "kimi-k2"},
      {"glm-4.5", "glm-4.5"},
      {"glm-5", "glm-5"},
      {"gpt-oss-120b", "gpt-oss-120b"},
      {"minimax-m2", "minimax-m2"},
      {"qwen3-next-80b-a3b", "qwen3-next-80b-a3b"},
      {"qwen3.5-397b-a17b", "qwen3.5-397b-a17b"},
      {"nemotron-h-8b", "nemotron-h-8b"},
      {"llama-4-maverick", "llama-4-maverick"},
      {"jamba-1.5-mini", "jamba-1.5-mini"},
      {"nemotron-3-super", "nemotron-3-super-120b-a12b", false},
  };
  return all;
}

}  // namespace

TEST_CASE("A published configuration is the model that the catalog describes, field by field",
          "[unit]") {
  const auto ids = base::catalog_ids(workloads::model_catalog());
  std::size_t compared = 0;
  for (const Twin& twin : twins()) {
    if (std::find(ids.begin(), ids.end(), twin.id) == ids.end()) {
      continue;
    }
    INFO(twin.config);
    const Architecture ours = imported(twin.config);
    const Architecture theirs = laws::model(twin.id);
    CHECK(described(ours) == described(theirs));
    CHECK(workloads::parameters(ours).total() == workloads::parameters(theirs).total());
    if (!ours.mtp.empty() && !theirs.mtp.empty()) {
      CHECK(described(ours.mtp, true) == described(theirs.mtp, true));
    }
    if (twin.same_weights && !theirs.native_precision.empty()) {
      CHECK(ours.native_precision == theirs.native_precision);
    }
    ++compared;
  }
  CHECK(compared >= 11);
}

// Elements of the language model's tensors in the published weights, multi-token prediction apart:
// Qwen3-Next-80B-A3B and NVIDIA-Nemotron-3-Super-120B-A12B-BF16 (123 611 012 096 − 2 942 324 736).
TEST_CASE("Hybrids have the parameters of their published weights", "[unit]") {
  CHECK(workloads::parameters(imported("qwen3-next-80b-a3b")).total() == 79'674'391'296.0);
  const auto super = workloads::parameters(imported("nemotron-3-super"));
  CHECK(super.total() == 123'611'012'096.0 - 2'942'324'736.0);
  CHECK(super.mtp == Approx(2'942'324'736.0).epsilon(1e-4));
}

// The makers' own figures, to their last digit; `_source` of each configuration says where they stand.
TEST_CASE("Families without a twin in the catalog have their published parameters", "[unit]") {
  const std::tuple<const char*, double, double> published[] = {{"olmo-2-7b", 7.3e9, 0.1e9},
                                                               {"phi-3-mini", 3.8e9, 0.1e9},
                                                               {"seed-oss-36b", 36e9, 1e9},
                                                               {"granite-3.3-8b", 8.1e9, 0.1e9},
                                                               {"smollm3-3b", 3e9, 0.1e9}};
  for (const auto& [name, parameters, digit] : published) {
    INFO(name);
    CHECK(std::abs(workloads::parameters(imported(name)).total() - parameters) <= digit);
  }
}

TEST_CASE("A configuration that contradicts itself is refused at the key", "[unit]") {
  const auto said = [](const char* key, const char* json) -> std::string {
    try {
      changed("llama-3.1-8b", key, json);
    } catch (const base::InputError& error) {
      return error.what();
    }
    return "";
  };
  CHECK_THAT(said("num_experts", "64"), ContainsSubstring("num_experts: no layer has experts"));
  CHECK_THAT(said("kv_lora_rank", "512"), ContainsSubstring("has no latent attention"));
  CHECK_THAT(said("architectures", "[MixtralForCausalLM]"),
             ContainsSubstring("is the class of \"mixtral\", but model_type is \"llama\""));
  CHECK(said("num_local_experts", "null").empty());
  CHECK(said("num_experts", "0").empty());
}

TEST_CASE("Llama 4 attends in chunks except in every fourth layer, with experts in every second",
          "[unit]") {
  const Architecture model = imported("llama-4-maverick");
  CHECK(model.interleaved);
  CHECK(model.attention.window == 8192);
  REQUIRE(model.layers.size() == 3);
  CHECK(described(model.layers, true) ==
        "24 mixer 3 ffn 1 kv_heads 8 window 8192 intermediate 16384; "
        "12 mixer 3 ffn 2 kv_heads 8 window 8192 intermediate 0; "
        "12 mixer 1 ffn 2 kv_heads 8 window 0 intermediate 0");
  CHECK(model.moe.intermediate == 8192);
  CHECK(model.moe.shared_intermediate == 8192);
}

// ffn_mult 5.25 · 8192 · 2/3 = 28672, a multiple of 256; 1.3125 gives 7168.
TEST_CASE("A searched architecture keeps the order of its layers, their heads and their widths",
          "[unit]") {
  const Architecture model = imported("nemotron-nas");
  CHECK_FALSE(model.interleaved);
  CHECK(described(model.layers, true) ==
        "2 mixer 1 ffn 1 kv_heads 8 window 0 intermediate 28672; "
        "1 mixer 0 ffn 1 kv_heads 0 window 0 intermediate 14336; "
        "1 mixer 1 ffn 1 kv_heads 8 window 0 intermediate 14336; "
        "1 mixer 1 ffn 1 kv_heads 4 window 0 intermediate 28672; "
        "1 mixer 0 ffn 0 kv_heads 0 window 0 intermediate 0; "
        "1 mixer 1 ffn 1 kv_heads 8 window 0 intermediate 7168; "
        "1 mixer 1 ffn 1 kv_heads 8 window 0 intermediate 28672");
}

TEST_CASE("Layers of DeepSeek V2 Lite's kind have no rank of queries", "[unit]") {
  base::Node node = base::load_document(config("deepseek-v2"));
  node["q_lora_rank"] = base::parse_document("change", "null");
  base::Node scenario;
  scenario["model"] = node;
  CHECK(model_of(scenario).attention.q_rank == 0);
}

TEST_CASE("A configuration of images and text gives its language model, and says so", "[unit]") {
  const base::Node node = translated("kimi-k2.5");
  REQUIRE(node.find("notes") != nullptr);
  CHECK(node.find("notes")->items.front().text.find("text_config") != std::string::npos);
  CHECK(described(imported("kimi-k2.5", {"model.max_context=131072"})) ==
        described(imported("kimi-k2")));
}

TEST_CASE("A sparse index is read wherever one is configured, one shared by layers with a note",
          "[unit]") {
  CHECK(translated("deepseek-v3").find_path("attention.index") == nullptr);
  CHECK(changed("deepseek-v3", "index_topk", "1024").find_path("attention.index.top_k")->text ==
        "1024");
  CHECK(translated("glm-5").find("notes") == nullptr);
  CHECK(changed("glm-5", "index_topk_freq", "4").find("notes") != nullptr);
}

TEST_CASE("Qwen slides from max_window_layers on, where it slides at all", "[unit]") {
  const auto layers = [](const base::Node& node) {
    base::Node scenario;
    scenario["model"] = node;
    return model_of(scenario).layers;
  };
  CHECK(layers(translated("qwen2.5-7b")).size() == 1);
  base::Node node = base::load_document(config("qwen2.5-7b"));
  node["use_sliding_window"] = base::parse_document("change", "true");
  node["max_window_layers"] = base::parse_document("change", "20");
  const auto sliding = layers(node);
  REQUIRE(sliding.size() == 2);
  CHECK(sliding[0].count == 20);
  CHECK(sliding[1].mixer == workloads::Mixer::sliding_attention);
  CHECK(sliding[1].window == 131072);
}

TEST_CASE("Knobs turn a published configuration as they turn a model of the catalog", "[unit]") {
  const Architecture model =
      imported("qwen3-235b-a22b", {"model.moe.experts=64", "model.moe.top_k=x0.5"});
  CHECK(model.moe.experts == 64);
  CHECK(model.moe.top_k == 4);
  CHECK(model.hidden == 4096);
}

TEST_CASE("A model may be derived from a published configuration", "[unit]") {
  const Architecture model = model_of(base::parse_document(
      "test", fmt::format("model: {{base: {}, name: wider, mlp.intermediate: x2}}",
                          config("llama-3.1-8b").string())));
  CHECK(model.name == "wider");
  CHECK(model.mlp.intermediate == 2 * 14336);
}

TEST_CASE("A sweep goes over published configurations and models of the catalog alike", "[unit]") {
  const sim::Sweep sweep = sim::read_sweep(base::parse_document(
      "sweep.yaml",
      fmt::format(
          "base: {{system: hgx_h200, model: llama-3.1-8b, precision: fp8, deployment: "
          "{{tensor_parallel: 8}}, serving: {{stack: vllm}}, traffic: {{input_tokens: 1024, "
          "output_tokens: 128, concurrency: 8}}}}\n"
          "axes: {{model: [{}, llama-3.1-8b]}}\n",
          config("llama-3.1-8b").string())));
  const sim::SweepPoints points(sweep);
  REQUIRE(points.size() == 2);
  CHECK(points.scenario(0).model->name == "LlamaForCausalLM");
  CHECK(described(*points.scenario(0).model) == described(*points.scenario(1).model));
}

TEST_CASE("What a configuration becomes is a document that reads back as the same model",
          "[unit]") {
  for (const Twin& twin : twins()) {
    INFO(twin.config);
    base::Node scenario;
    scenario["model"] = base::parse_document("saved.yaml", base::to_yaml(translated(twin.config)));
    CHECK(described(model_of(scenario)) == described(imported(twin.config)));
  }
}

}  // namespace roofcast::unit_workloads_hugging_face
