// SPDX-License-Identifier: Apache-2.0
//
// Muon beside Adam: memory, products, what it refuses.
#include <string>

#include "models/operators/operator_cost.hpp"
#include "sim/estimate.hpp"
#include "sim/result/training_step.hpp"
#include "sim/scenario/sections.hpp"
#include "sim/training/newton_schulz.hpp"
#include "sim/training/training.hpp"
#include "tests/catch.hpp"
#include "tests/unit/sim/training/step_of.hpp"
#include "workloads/architecture/parameters.hpp"

namespace roofcast::sim::unit_sim_training_optimizer {
namespace {

// Two layers of hidden 1024: queries, keys and values [1024, 3072], output [1024, 1024], up [1024, 4096], down [4096, 1024].
Scenario trained(const std::string& more, int gpus = 1) {
  return read_scenario(base::parse_document(
      "test",
      "system: hgx_h100\nmodel: {name: small, native_precision: bf16, max_context: 4096, hidden: "
      "1024, "
      "vocab: 32000, tied_embeddings: false, attention: {kind: gqa, query_heads: 16, kv_heads: 16, "
      "head_dim: 64, qkv_bias: false, qk_norm: false}, mlp: {intermediate: 4096, gated: false}, "
      "layers: "
      "[{count: 2, mixer: attention, ffn: mlp}], source: the test}\nprecision: bf16\n"
      "deployment: {data_parallel: " +
          std::to_string(gpus) +
          "}\ntraining: {sequence_length: 4096, global_batch: 8, trainer: megatron" + more +
          "}\n"));
}

}  // namespace

TEST_CASE("Muon keeps one moment of a matrix and two of embedding and head, Adam two of all",
          "[unit]") {
  const Scenario adam = trained("");
  const Scenario muon = trained(", optimizer: muon");
  const double all = workloads::parameters(adam.model).total();
  const double tables = 2.0 * 32000 * 1024;
  // Norms behind the layers are not counted on a rank.
  CHECK(step_of(adam).footprint.optimizer.si() == Approx(12.0 * all).epsilon(1e-4));
  CHECK(step_of(muon).footprint.optimizer.si() == Approx(8.0 * all + 4.0 * tables).epsilon(1e-4));
  CHECK(step_of(trained(", optimizer: muon, moments: bf16")).footprint.optimizer.si() ==
        Approx(6.0 * all + 2.0 * tables).epsilon(1e-4));
  CHECK(step_of(muon).footprint.gradients == step_of(adam).footprint.gradients);
}

TEST_CASE("Muon's products are five steps of three for each matrix of the layers", "[unit]") {
  const Scenario s = trained(", optimizer: muon");
  const auto product = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    const workloads::Gemm gemm{m, n, k, 1, base::NumberFormat::bf16, base::NumberFormat::bf16};
    return models::cost_of(gemm, s.platform.machine).time.si();
  };
  const auto matrix = [&](std::int64_t shorter, std::int64_t longer) {
    return 5.0 * (product(shorter, shorter, longer) + product(shorter, shorter, shorter) +
                  product(shorter, longer, shorter));
  };
  const double by_hand = 2.0 * (matrix(1024, 3072) + matrix(1024, 1024) + 2.0 * matrix(1024, 4096));
  const TrainingStep muon = step_of(s);
  const TrainingStep adam = step_of(trained(""));
  const double extra = muon.optimizer.si() - adam.optimizer.si();
  // One moment less to read and write of each matrix: 8 B of 4 TB/s at most.
  CHECK(extra < by_hand);
  CHECK(extra > by_hand - 2.0 * 12.0 * 1024 * 1024 * 8.0 / 2e12);
  CHECK(muon.model_flop == adam.model_flop);
}

TEST_CASE("Replicas share Muon's matrices, down to one each", "[unit]") {
  const auto products = [](int gpus, const std::string& more = "") {
    const Scenario scenario = trained(", optimizer: muon" + more, gpus);
    const Scenario adam = trained(more, gpus);
    return step_of(scenario).optimizer.si() - step_of(adam).optimizer.si();
  };
  const double one = products(1);
  CHECK(products(2) == Approx(one / 2.0).epsilon(0.05));
  // Eight matrices for eight ranks: the longest of them is more than an eighth.
  CHECK(products(8) > one / 8.0);
  CHECK(products(8) < one / 4.0);
  CHECK(products(8, ", sharding: none") == Approx(one).epsilon(0.05));
}

TEST_CASE("Muon is refused where matrices are cut, and for adapters", "[unit]") {
  const auto refused = [](const std::string& more) {
    try {
      trained(more);
    } catch (const base::InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(refused(", optimizer: muon, sharding: parameters").find("whole matrices") !=
        std::string::npos);
  CHECK(refused(", optimizer: muon, lora: {rank: 8}").find("adam") != std::string::npos);
  CHECK(refused(", optimizer: moun").find("muon") != std::string::npos);
  CHECK(refused(", optimizer: muon, sharding: none").empty());
}

}  // namespace roofcast::sim::unit_sim_training_optimizer
