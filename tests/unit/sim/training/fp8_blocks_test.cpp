// SPDX-License-Identifier: Apache-2.0
//
// FP8 with a scale for each 128 elements: what is quantised again for the gradients of weights, and what is sent in FP8.
#include <algorithm>
#include <string>

#include "sim/scenario/sections.hpp"
#include "sim/training/training.hpp"
#include "tests/catch.hpp"
#include "workloads/graph/training_graph.hpp"
#include "workloads/graph/unfused_kernels.hpp"

namespace roofcast::sim::unit_sim_training_fp8_blocks {
namespace {

using base::NumberFormat;
using workloads::Call;
using workloads::Collective;
using workloads::Elementwise;
using workloads::Gemm;
using workloads::Graph;

Graph backward_of(NumberFormat format, bool adapters_only = false) {
  const Graph forward = {{Elementwise{2.0, 1.0, 1.0}, "mlp.quantise"},
                         {Gemm{4096, 7168, 2048, 1, format, format}, "mlp.down"}};
  return workloads::backward_graph(forward, {}, 1.0, 4.0, adapters_only);
}

const Collective& sent_by(const Graph& graph, std::string_view name) {
  const auto call =
      std::find_if(graph.begin(), graph.end(), [&](const Call& c) { return c.name == name; });
  REQUIRE(call != graph.end());
  return std::get<Collective>(call->op);
}

Graph forward_of(const std::string& dispatch, const std::string& precision = "fp8_block") {
  const Scenario scenario = read_scenario(base::parse_document(
      "test",
      "system: h800_cluster_128\nmodel: deepseek-v3\nprecision: " + precision +
          "\ndeployment: {data_parallel: 64, expert_parallel: 64}\ntraining: {sequence_length: "
          "4096, global_batch: 64, trainer: megatron" +
          dispatch + "}\n"));
  const ScenarioView s = view(scenario);
  return forward_graph(s, workloads::training_mapping(*s.model, *s.mapping), micro_batches(s));
}

}  // namespace

TEST_CASE("A product in FP8 blocks quantises its gradients twice and what it kept once", "[unit]") {
  const Graph blocks = backward_of(NumberFormat::fp8_block);
  REQUIRE(blocks.size() == 4);  // quantised, two products, the sum of gradients
  const double gradients = 4096.0 * 7168;
  const double inputs = 4096.0 * 2048;
  const auto& quantised = std::get<Elementwise>(blocks[0].op);
  CHECK(quantised.read_bytes == Approx(1.4 * (2.0 * 2.0 * gradients + inputs)));
  CHECK(quantised.written_bytes == Approx(1.4 * (2.0 * gradients + inputs)));
  // Weights that are not trained: the gradients of inputs alone.
  const Graph frozen = backward_of(NumberFormat::fp8_block, true);
  REQUIRE(frozen.size() == 2);
  CHECK(std::get<Elementwise>(frozen[0].op).read_bytes == Approx(1.4 * 2.0 * gradients));
  // One scale a tensor is the same along both axes: the cast of the forward pass stands for its gradient's.
  const Graph tensors = backward_of(NumberFormat::fp8);
  REQUIRE(tensors.size() == 4);
  CHECK(std::get<Elementwise>(tensors[0].op).read_bytes == 3.0);
}

TEST_CASE("Tokens that are quantised before they are sent take half the bytes, sums do not",
          "[unit]") {
  const Graph bf16 = forward_of("");
  const Graph fp8 = forward_of(", dispatch: quantised");
  const double copies = 4096.0 * 8 * 7168;  // eight experts a token
  CHECK(sent_by(bf16, "moe.dispatch").bytes == 2.0 * copies);
  CHECK(sent_by(fp8, "moe.dispatch").bytes == Approx(copies).epsilon(1e-3));
  CHECK(sent_by(fp8, "moe.combine").bytes == 2.0 * copies);
  // The gradients of sums go out in FP8, those of tokens come back in 16 bits.
  const Graph backward = workloads::backward_graph(fp8, {}, 1.0, 4.0);
  CHECK(sent_by(backward, "moe.dispatch").bytes == 2.0 * copies);
  CHECK(sent_by(backward, "moe.combine").bytes == Approx(copies).epsilon(1e-3));
  const auto quantised = [](const Graph& graph) {
    const auto call = std::find_if(graph.begin(), graph.end(),
                                   [](const Call& c) { return c.name == "moe.quantise"; });
    REQUIRE(call != graph.end());
    return std::get<Elementwise>(call->op).read_bytes;
  };
  CHECK(quantised(fp8) == 2.0 * 4096 * 7168);  // its own tokens, not the rows of its experts
  CHECK(quantised(bf16) == Approx(8.0 * quantised(fp8)).epsilon(0.2));
  // Experts in 16 bits read what is sent in 16 bits.
  CHECK(sent_by(forward_of(", dispatch: quantised", "bf16"), "moe.dispatch").bytes == 2.0 * copies);
}

TEST_CASE(
    "MLA turns the rotary part of queries and one key, in kernels of its own where none fuses it",
    "[unit]") {
  const Graph graph = forward_of(", fused_rope: false");
  const auto rope = std::find_if(graph.begin(), graph.end(),
                                 [](const Call& c) { return c.name == "attention.rope"; });
  REQUIRE(rope != graph.end());
  CHECK(std::get<Elementwise>(rope->op) == workloads::unfused_rope(4096.0 * (128 + 1) * 64));
  const Graph fused = forward_of("");
  CHECK(std::none_of(fused.begin(), fused.end(),
                     [](const Call& c) { return c.name == "attention.rope"; }));
}

}  // namespace roofcast::sim::unit_sim_training_fp8_blocks
