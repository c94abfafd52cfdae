// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "models/training_activations.hpp"
#include "models/training_footprint.hpp"
#include "sim/estimate.hpp"
#include "sim/result/training_step.hpp"
#include "sim/scenario/sections.hpp"
#include "sim/training/training.hpp"
#include "tests/catch.hpp"
#include "workloads/architecture/parameters.hpp"
#include "workloads/training/adapters.hpp"

namespace roofcast::sim::unit_sim_training_lora {
namespace {

Scenario of(const std::string& training, const std::string& model = "llama-3.1-8b",
            const std::string& deployment = "data_parallel: 8") {
  return read_scenario(base::parse_document(
      "test", "system: hgx_h200\nmodel: " + model + "\nprecision: bf16\ndeployment: {" +
                  deployment +
                  "}\ntraining: {sequence_length: 4096, global_batch: 8, trainer: megatron" +
                  (training.empty() ? "" : ", " + training) + "}\n"));
}

TrainingStep step(const Scenario& s) { return training_step(view(s), micro_batches(view(s))); }

}  // namespace

// Llama-3.1-8B: hidden 4096, queries 4096, keys and values 1024 each, width 14336, 32 layers.
TEST_CASE("An adapter has the rank times both widths of its layer", "[unit]") {
  const auto trained = [](const std::string& layers, const std::string& deployment) {
    const Scenario s =
        of("lora: {rank: 16" + layers + "}", "llama-3.1-8b", deployment + ", data_parallel: 1");
    return models::rank_parameters(s.model, s.deployment.mapping, s.precision, s.training).total();
  };
  CHECK(trained(", layers: [qkv]", "tensor_parallel: 1") == 32.0 * 16 * (4096 + 6144));
  CHECK(trained(", layers: [out, down]", "tensor_parallel: 1") ==
        32.0 * 16 * (4096 + 4096 + 4096 + 14336));
  CHECK(trained("", "tensor_parallel: 1") ==
        32.0 * 16 * (4 * 4096 + 6144 + 4096 + 2 * 14336 + 14336));
  // The wide side is cut as the layer is, the narrow one is on every rank.
  CHECK(trained(", layers: [qkv]", "tensor_parallel: 2") == 32.0 * 16 * (4096 + 6144 / 2));
  // Eight KV heads are copied to 16 ranks.
  CHECK(trained(", layers: [qkv]", "tensor_parallel: 16") == 32.0 * 16 * (4096 + 256 + 2 * 128));
}

TEST_CASE("Weights that are not trained have no gradients and no states", "[unit]") {
  const Scenario whole = of("");
  const Scenario adapted = of("lora: {rank: 16, layers: [qkv]}");
  const models::TrainingFootprint all = step(whole).footprint;
  const models::TrainingFootprint few = step(adapted).footprint;
  const double adapters = 32.0 * 16 * (4096 + 6144);
  CHECK(few.parameters.si() == all.parameters.si() + 2.0 * adapters);
  CHECK(few.gradients.si() == 4.0 * adapters);
  CHECK(few.optimizer.si() == Approx(12.0 * adapters / 8.0));
  // Of a layer: the input of up, and what the activation hands to down; the adapter keeps its narrow input.
  const auto kept = [](const Scenario& s) {
    return models::kept_bytes(s.model, s.model.layers.front(), s.deployment.mapping, s.precision,
                              s.training.recompute, base::NumberFormat::bf16, false,
                              s.training.lora);
  };
  CHECK(kept(whole) - kept(adapted) == 2.0 * (4096 + 14336 - 16));
}

TEST_CASE("With adapters a step has a third less model FLOP of weights, and takes less time",
          "[unit]") {
  const TrainingStep whole = step(of(""));
  const TrainingStep adapted = step(of("lora: {rank: 16, layers: [qkv]}"));
  const double weights =
      2.0 * workloads::active_parameters(of("").model) * 8.0 * 4096;  // of one pass
  CHECK(whole.model_flop - adapted.model_flop == Approx(weights));
  CHECK(adapted.time < 0.75 * whole.time);
  CHECK(adapted.time > 0.6 * whole.time);
  // Three products less in the narrow layers are less than what the sums of wide outputs cost.
  CHECK(step(of("lora: {rank: 16}")).time > adapted.time);
}

TEST_CASE("Texts that are packed into a sequence see themselves only", "[unit]") {
  const auto flop = [](const std::string& training) { return step(of(training)).model_flop; };
  const double whole = flop("");
  const double halves = flop("packed: 2048");
  // Attention of two halves has half the pairs, but for those of a token with itself.
  const double attention = 3.0 * 8 * 32 * 4.0 * 4096 * (4096.0 * 4097 / 2);
  CHECK(whole - halves == Approx(attention / 2).epsilon(1e-3));
  CHECK(flop("packed: 8192") == whole);
  CHECK(step(of("packed: 512")).time < step(of("packed: 2048")).time);
}

TEST_CASE("A training whose adapters no layer gets is infeasible, with the reason", "[unit]") {
  const auto refused = [](const std::string& layers, const std::string& model) {
    const Scenario s = of("lora: {rank: 16, layers: " + layers + "}", model);
    Workspace workspace;
    return reason(estimate(view(s), workspace));
  };
  for (const auto& [layers, model] :
       {std::pair("[up, down]", "qwen3-30b-a3b"), std::pair("[qkv, out]", "deepseek-v2")}) {
    CHECK_THAT(refused(layers, model),
               Catch::Matchers::ContainsSubstring("no layer of the model gets an adapter"));
  }
  CHECK(refused("[qkv, out]", "qwen3-30b-a3b").empty());
  CHECK_THROWS_WITH(of("lora: {rank: 16, layers: none}"),
                    Catch::Matchers::ContainsSubstring("an adapter is beside a layer"));
}

TEST_CASE("Adapters beside sharded parameters are refused", "[unit]") {
  CHECK_THROWS_WITH(of("sharding: parameters, lora: {rank: 16}"),
                    Catch::Matchers::ContainsSubstring("sharding optimizer or gradients"));
}

}  // namespace roofcast::sim::unit_sim_training_lora
