// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sim/estimate.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::sim::unit_sim_cuda_graphs {
namespace {

Scenario scenario(const std::string& graphs) {
  return read_scenario(base::parse_document(
      "test",
      "system: hgx_h200\nmodel: llama-3.1-70b\nprecision: fp8\ndeployment: {tensor_parallel: 8}\n"
      "serving: {stack: vllm" +
          graphs + "}\ntraffic: {input_tokens: 512, output_tokens: 512, concurrency: 33}\n"));
}

double latency_s(const Scenario& s, std::int64_t decodes) {
  Workspace workspace;
  return iteration_cost(view(s), {decodes, 1, 1024}, workspace).latency.si();
}

double tpot_s(const std::string& graphs) {
  const Scenario s = scenario(graphs);
  Workspace workspace;
  return estimate(view(s), workspace).steady.tpot.si();
}

}  // namespace

TEST_CASE("A batch runs in the next larger CUDA graph, its attention only over what it has",
          "[unit]") {
  const Scenario s = scenario(", cuda_graphs: {sizes: [16, 32, 48]}");
  CHECK(s.serving.cuda_graphs.padded(33) == 48);
  CHECK(s.serving.cuda_graphs.padded(32) == 32);
  CHECK(s.serving.cuda_graphs.padded(49) == 49);
  CHECK_FALSE(s.serving.cuda_graphs.cover(49));
  const auto rows = [&](const Scenario& of, std::int64_t decodes) {
    std::pair<std::int64_t, std::int64_t> gemm_and_attention;
    for (const OperatorLine& line : iteration_operators(view(of), {decodes, 1, 1024})) {
      if (const auto* gemm = std::get_if<workloads::Gemm>(&line.call.op)) {
        gemm_and_attention.first = std::max(gemm_and_attention.first, gemm->m);
      } else if (const auto* a = std::get_if<workloads::DecodeAttention>(&line.call.op)) {
        gemm_and_attention.second = a->sequences;
      }
    }
    return gemm_and_attention;
  };
  CHECK(rows(s, 33) == std::pair<std::int64_t, std::int64_t>{48, 33});
  CHECK(rows(scenario(""), 33) == std::pair<std::int64_t, std::int64_t>{33, 33});
  CHECK(rows(s, 48) == rows(scenario(""), 48));
}

// The host launches the operators of the graph, each in eager_operator; with pieces attention of each layer only.
TEST_CASE("The host launches what no CUDA graph covers", "[unit]") {
  Scenario eager = scenario(", cuda_graphs: {decode: none}");
  double operators = 0.0;
  for (const OperatorLine& line : iteration_operators(view(eager), {8, 1, 1024})) {
    operators += line.call.count;
  }
  const double one = eager.serving.stack.eager_operator.si();
  CHECK(latency_s(eager, 8) == Approx(operators * one));
  CHECK(eager.serving.stack.graph_tokens == 0);
  Scenario pieces = scenario(", cuda_graphs: {decode: piecewise}");
  CHECK(latency_s(pieces, 8) == latency_s(scenario(""), 8));  // 80 launches are hidden
  pieces.serving.stack.eager_operator = base::Seconds::from_si(1e-3);
  CHECK(latency_s(pieces, 8) == Approx(80e-3));
  const Scenario small = scenario(", cuda_graphs: {sizes: [4]}");
  CHECK(latency_s(small, 8) == Approx(latency_s(eager, 8)));
  CHECK(latency_s(small, 4) == latency_s(scenario(""), 4));
}

// DeepSeek has a latent: the further operators of a layer are of prompts (docs/catalog.md).
TEST_CASE("In pieces a decode of latent attention launches one operator a layer", "[unit]") {
  for (const char* stack : {"trtllm", "vllm", "sglang"}) {
    INFO(stack);
    const auto with = [&](const std::string& graphs) {
      return read_scenario(base::parse_document(
          "test", std::string("system: hgx_b200\nmodel: deepseek-v3\nprecision: fp8_block\n"
                              "deployment: {tensor_parallel: 8}\nserving: {stack: ") +
                      stack + graphs +
                      "}\ntraffic: {input_tokens: 1024, output_tokens: 1024, concurrency: 1}\n"));
    };
    Scenario pieces = with(", cuda_graphs: {decode: piecewise}");
    CHECK(latency_s(pieces, 1) == latency_s(with(""), 1));  // kernels take longer than 61 launches
    pieces.serving.stack.eager_operator = base::Seconds::from_si(1e-3);
    Scenario twice = pieces;
    twice.serving.stack.eager_operator = base::Seconds::from_si(2e-3);
    CHECK(latency_s(twice, 1) - latency_s(pieces, 1) == Approx(61e-3));
  }
}

// 64 rows fill tiles that 33 leave partly absent (models/operators/fixed_tiles.hpp).
TEST_CASE("TPOT tells eager decodes and padded ones from those in graphs of every size", "[unit]") {
  const double full = tpot_s("");
  CHECK(tpot_s(", cuda_graphs: {decode: full}") == full);
  CHECK(tpot_s(", cuda_graphs: {decode: none}") > 2.0 * full);
  CHECK(tpot_s(", cuda_graphs: {sizes: [1, 16, 64]}") > full);
  CHECK(tpot_s(", cuda_graphs: {sizes: [1, 16, 96]}") > 1.1 * full);
  CHECK(tpot_s(", cuda_graphs: {sizes: [1, 16, 96]}") < 1.5 * full);
}

}  // namespace roofcast::sim::unit_sim_cuda_graphs
