// SPDX-License-Identifier: Apache-2.0
#include "models/training_footprint.hpp"

#include <fmt/format.h>

#include <string>

#include "models/footprint.hpp"
#include "models/training_activations.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::models::unit_models_training_footprint {
namespace {

sim::Scenario scenario(const std::string& model, const std::string& training = "",
                       const std::string& deployment = "", const std::string& precision = "bf16") {
  return sim::read_scenario(base::parse_document(
      "test", "system: {base: b200_cluster_128, chips: 4096}\nmodel: " + model +
                  "\nprecision: " + precision + "\ndeployment: {" + deployment +
                  "}\ntraining: {global_batch: 1024, sequence_length: 4096, trainer: megatron" +
                  (training.empty() ? "" : ", " + training) + "}\n"));
}

// Of the last layer of the model, B a token.
double kept(const sim::Scenario& s) {
  return kept_bytes(s.model, s.model.layers.back(), s.deployment.mapping, s.precision,
                    s.training.recompute);
}

TrainingFootprint footprint(const sim::Scenario& s, std::int64_t micro_batches = 64) {
  return training_footprint(s.model, workloads::training_mapping(s.model, s.deployment.mapping),
                            s.precision, s.training,
                            static_cast<double>(s.training.sequence_length), micro_batches);
}

}  // namespace

// arXiv 2205.05198: 34 bytes a token and hidden unit, of which 2 are dropout's masks; 10 and 24/t without sequence
// parallelism; 2 where all is computed again. 96 heads have a sum of softmax each.
TEST_CASE("A layer of GPT-3's shape keeps what was published of it, and the sums of softmax",
          "[unit]") {
  const auto in_hidden = [](const std::string& deployment, const std::string& training = "") {
    return kept(scenario("gpt-3-175b", training, deployment)) / 12288.0;
  };
  constexpr double kSums = 96.0 * 4.0 / 12288.0;
  CHECK(in_hidden("") == 34.0 - 2.0 + kSums);
  CHECK(in_hidden("tensor_parallel: 8, sequence_parallel: true") == (34.0 - 2.0 + kSums) / 8.0);
  CHECK(in_hidden("tensor_parallel: 8") == 10.0 - 2.0 + (24.0 + kSums) / 8.0);
  CHECK(in_hidden("", "recompute: full") == 2.0);
}

// Llama-3.1-8B: hidden 4096, 32 and 8 heads of 128, width 14336.
TEST_CASE("Each module that is computed again frees what it keeps", "[unit]") {
  const auto freed = [](const std::string& model, const std::string& module,
                        const std::string& precision = "bf16") {
    return kept(scenario(model, "", "", precision)) -
           kept(scenario(model, "recompute: " + module, "", precision));
  };
  CHECK(freed("llama-3.1-8b", "norms") == 2.0 * 2.0 * 4096);
  CHECK(freed("llama-3.1-8b", "norms", "fp8") == 2.0 * 4096);
  CHECK(freed("llama-3.1-8b", "mlp") == 2.0 * 3.0 * 14336);
  // The output stays as the input of the projection, unless that keeps its own in FP8.
  CHECK(freed("llama-3.1-8b", "attention") == 4.0 * 32);
  CHECK(freed("llama-3.1-8b", "attention", "fp8") == 4.0 * 32 + 2.0 * 4096);
  // DeepSeek-V3: 128 heads of 192, 192 and 128; top 8 and 1 shared expert of 2048, hidden 7168.
  CHECK(freed("deepseek-v3", "mla_up") == 2.0 * 128 * (192 + 192 + 128));
  CHECK(freed("deepseek-v3", "expert_activation") == 2.0 * 8 * 2048);
  CHECK(freed("deepseek-v3", "expert_activation", "fp8") == 1.0 * 8 * 2048);
  CHECK(freed("deepseek-v3", "shared_experts") == 2.0 * 3 * 2048);
  CHECK(freed("deepseek-v3", "experts") == 2.0 * (8 * (7168 + 3 * 2048) + 3 * 2048) + 4.0 * 256);
  CHECK(freed("deepseek-v3", "[experts, expert_activation, shared_experts]") ==
        freed("deepseek-v3", "experts"));
}

TEST_CASE("Activations that are kept for products in few bits are as small as their format",
          "[unit]") {
  // Of hidden 4096 and width 14336: two inputs of layers, one of the projection, one of the last product.
  const double inputs = 2.0 * 4096 + 4096 + 14336;
  const double bf16 = kept(scenario("llama-3.1-8b"));
  CHECK(kept(scenario("llama-3.1-8b", "", "", "fp8")) ==
        bf16 - inputs + 2.0 * 4096);  // and the output of attention apart
  CHECK(kept(scenario("llama-3.1-8b", "", "", "nvfp4")) ==
        bf16 - (2.0 - 0.5625) * inputs + 2.0 * 4096);
}

TEST_CASE("A stage holds the micro-batches that its schedule has in flight", "[unit]") {
  using workloads::held_micro_batches;
  CHECK(held_micro_batches(8, 1, 0, 0, 64) == 8);
  CHECK(held_micro_batches(8, 1, 7, 0, 64) == 1);
  CHECK(held_micro_batches(8, 1, 0, 0, 3) == 3);
  // arXiv 2205.05198: p · (1 + (p−1)/(p·v)) on the first stage.
  for (const std::int64_t v : {2, 4, 7}) {
    std::int64_t held = 0;
    for (std::int64_t k = 0; k < v; ++k) {
      held += held_micro_batches(8, v, 0, k, 64);
    }
    CHECK(held == 8 * v + 7);
  }
}

TEST_CASE("A layout says which layers each chunk has", "[unit]") {
  const workloads::PipelineLayout layout = workloads::parse_layout("Et*3|(t*4|)*2, t*2 |L").layout;
  REQUIRE(layout.size() == 5);
  CHECK(layout[0].embedding);
  CHECK(layout[1].first == 3);
  CHECK(layout[2].layers == 4);
  CHECK(layout[3].layers == 2);
  CHECK(layout[4].loss);
  CHECK(layout[4].layers == 0);
  CHECK(workloads::layers_of(layout) == 13);
  const auto problem = [](const char* text) { return workloads::parse_layout(text).problem; };
  CHECK(problem("Et|(t|*2L") == "( without )");
  CHECK(problem("Et)L") == ") without (");
  CHECK(problem("Et*L") == "* needs a number after it");
  CHECK(problem("EtmL").starts_with("m: "));
  CHECK(problem("t|L") == "a layout begins with its one E and ends with its one L");
  CHECK(problem("Et*9999999L") == "too long");
}

TEST_CASE("Llama-3.1-405B runs on 16 stages of 8 chunks, embedding and loss apart", "[unit]") {
  const std::string deployment =
      "tensor_parallel: 8, pipeline_parallel: 16, data_parallel: 8, sequence_parallel: true";
  const TrainingFootprint even =
      footprint(scenario("llama-3.1-405b", "gradients: bf16", deployment));
  const TrainingFootprint apart = footprint(scenario(
      "llama-3.1-405b", "gradients: bf16, virtual_stages: 8, layout: 'E|(t|)*126L'", deployment));
  // 7 layers and the embedding beside 8 layers and the embedding, over 8.
  CHECK(apart.parameters < even.parameters);
  const double layer = 2.0 * 16384 * (16384.0 + 1024) + 3.0 * 16384 * 53248 + 2.0 * 16384;
  CHECK(footprint(scenario("llama-3.1-405b",
                           "gradients: bf16, virtual_stages: 8, layout: 'E|(t|)*126L'",
                           "tensor_parallel: 1, pipeline_parallel: 16"))
            .parameters.si() == Approx(2.0 * (8.0 * layer)).epsilon(1e-3));
}

TEST_CASE("The fullest stage of a mixture with dense layers first is the one with most experts",
          "[unit]") {
  const TrainingFootprint f =
      footprint(scenario("{base: deepseek-v3, layers: [{count: 2, mixer: attention, ffn: mlp}, "
                         "{count: 2, mixer: attention, ffn: moe}]}",
                         "", "pipeline_parallel: 2, expert_parallel: 4, data_parallel: 4"));
  CHECK(f.stage == 1);
}

TEST_CASE("Weights in FP8 are kept by rows and by columns, beside the 16 bits or in their place",
          "[unit]") {
  const auto parameters = [](const std::string& precision, const std::string& training) {
    return footprint(scenario("llama-3.1-8b", training, "", precision)).parameters.si();
  };
  const double linear = 32.0 * (2.0 * 4096 * (4096 + 1024) + 3.0 * 4096 * 14336);
  const double bf16 = parameters("bf16", "");
  CHECK(parameters("fp8", "") == Approx(bf16 + 2.0 * linear));
  CHECK(parameters("fp8", "parameters: quantised") == Approx(bf16));
  CHECK(parameters("nvfp4", "") == Approx(bf16 + 1.125 * linear));
  CHECK(parameters("nvfp4", "parameters: quantised") == Approx(bf16 + (1.125 - 2.0) * linear));
}

TEST_CASE("Moments in bf16 save four bytes a parameter, in FP8 six", "[unit]") {
  const auto optimizer = [](const char* moments) {
    return footprint(scenario("llama-3.1-8b", std::string("moments: ") + moments)).optimizer.si();
  };
  CHECK(optimizer("bf16") == Approx(optimizer("fp32") * 8.0 / 12.0));
  CHECK(optimizer("fp8") == Approx(optimizer("fp32") * 6.0 / 12.0));
}

TEST_CASE("Offloaded layers and layers computed again keep nothing but what they start from",
          "[unit]") {
  const auto activations = [](const std::string& training) {
    return footprint(scenario("llama-3.1-8b", training)).activations.si();
  };
  const double none = activations("recompute: none");
  const double full = activations("recompute: full");
  CHECK(activations("recompute: full, recompute_layers: 8") == Approx(0.75 * none + 0.25 * full));
  const double final_norm = 4.0 * 4096 * 4096;
  const double layer = (none - final_norm) / 32.0;
  CHECK(activations("offload: {layers: 8}") == Approx(none - 8.0 * layer + layer));
  CHECK(activations("recompute: full, offload: {layers: 8}") ==
        Approx(full - 7.0 * (full - final_norm) / 32.0));
}

TEST_CASE("A loss that is not fused keeps four more bytes a logit", "[unit]") {
  const auto workspace = [](const char* fused) {
    return footprint(scenario("llama-3.1-8b", std::string("fused_loss: ") + fused)).workspace.si();
  };
  CHECK(workspace("false") - workspace("true") == Approx(4.0 * 4096 * 128256));
}

TEST_CASE("Experts that keep in FP8 what their activation reads save 2·top_k·width bytes a token",
          "[unit]") {
  const auto activations = [](const std::string& format) {
    const sim::Scenario s = scenario("qwen3-30b-a3b", "expert_activations: " + format,
                                     "data_parallel: 64, expert_parallel: 64", "fp8");
    return footprint(s).activations.si();
  };
  // 48 layers of 8 experts of a width of 768, with a gate; 4,096 tokens
  CHECK(activations("bf16") - activations("fp8") == Approx(48.0 * 8.0 * 2.0 * 768.0 * 4096.0));
}

// Serving keeps MLA's expansion a second time, and the norm after the last layer.
TEST_CASE("A rank trains the weights that it would serve, whole parts and copies of KV heads too",
          "[unit]") {
  for (const char* model :
       {"llama-3.1-8b", "{base: llama-3.1-8b, attention.kv_heads: 2}", "deepseek-v2",
        "deepseek-v3.2", "qwen3-235b-a22b", "qwen3-next-80b-a3b", "jamba-1.5-mini", "flux.1-dev"}) {
    for (const std::int64_t ranks : {1, 2, 8, 16}) {
      INFO(model << " TP " << ranks);
      const sim::Scenario s = scenario(model, "gradients: bf16",
                                       fmt::format("tensor_parallel: {}, data_parallel: 2", ranks));
      const workloads::Mapping mapping = workloads::training_mapping(s.model, s.deployment.mapping);
      const workloads::AttentionShape& a = s.model.attention;
      const double expansion =
          a.kind == workloads::AttentionKind::gqa
              ? 0.0
              : static_cast<double>(s.model.layer_count() * a.query_heads * a.kv_rank *
                                    (a.nope_dim + a.value_dim) / ranks);
      const double served = weight_bytes(s.model, s.precision, mapping).si() / 2.0 - expansion -
                            static_cast<double>(s.model.hidden);
      const TrainingFootprint f = footprint(s);
      CHECK(f.parameters.si() == Approx(2.0 * served));
      CHECK(f.gradients.si() == Approx(2.0 * served));
      const RankParameters rank = rank_parameters(s.model, mapping, s.precision, s.training);
      CHECK(f.optimizer.si() ==
            Approx(12.0 * (rank.dense / 2.0 +
                           rank.experts / static_cast<double>(mapping.expert_replicas))));
    }
  }
}

}  // namespace roofcast::models::unit_models_training_footprint
