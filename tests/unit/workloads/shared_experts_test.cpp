// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "tests/catch.hpp"
#include "tests/laws/catalog.hpp"
#include "workloads/graph/graph.hpp"

namespace roofcast::unit_workloads_shared_experts {

using workloads::Batch;
using workloads::Fusion;
using workloads::Graph;
using workloads::Mapping;
using workloads::SharedExperts;

namespace {

constexpr Batch kDecodes{.decode_sequences = 16, .context = 1024};

Graph graph_of(std::string_view model, SharedExperts shared, const Mapping& mapping,
               const Batch& batch, Fusion fusion = {}, std::string_view precision = "fp8_block") {
  fusion.shared_experts = shared;
  Graph graph;
  workloads::build_graph(laws::model(model), laws::precision(precision), mapping, fusion, batch,
                         graph);
  return graph;
}

const workloads::Call* find(const Graph& graph, std::string_view name) {
  for (const workloads::Call& call : graph) {
    if (call.name == name) {
      return &call;
    }
  }
  return nullptr;
}

template <class Op>
const Op& op_of(const Graph& graph, std::string_view name) {
  const workloads::Call* call = find(graph, name);
  REQUIRE(call != nullptr);
  return std::get<Op>(call->op);
}

const Mapping kTensor{.tensor_parallel = 8};
const Mapping kExpert{.tensor_parallel = 8, .expert_parallel = 8};

}  // namespace

TEST_CASE("A shared expert among the others is one more expert that every token chooses",
          "[unit]") {
  const Graph apart = graph_of("deepseek-v3", SharedExperts::before, kTensor, kDecodes);
  const Graph among = graph_of("deepseek-v3", SharedExperts::among, kTensor, kDecodes);
  CHECK(find(among, "moe.shared_up") == nullptr);
  CHECK(find(among, "moe.add_shared") == nullptr);
  const auto& without = op_of<workloads::GroupedGemm>(apart, "moe.up");
  const auto& with = op_of<workloads::GroupedGemm>(among, "moe.up");
  CHECK(with.pairs == without.pairs + 16.0);
  CHECK(with.distinct == without.distinct + 1.0);
  CHECK(op_of<workloads::ExpertRouting>(among, "moe.routing").top_k == 9);
}

TEST_CASE("With expert parallelism, another width or another format they are beside, not among",
          "[unit]") {
  Fusion gathers;
  gathers.exchange = workloads::Exchange::gather;
  const auto beside = [](const Graph& graph) {
    const workloads::Call* up = find(graph, "moe.shared_up");
    return up != nullptr && up->overlapped && find(graph, "moe.add_shared") != nullptr;
  };
  CHECK(beside(graph_of("deepseek-v3", SharedExperts::among, kExpert, kDecodes, gathers)));
  CHECK(beside(graph_of("llama-4-scout", SharedExperts::beside, kTensor, kDecodes, {}, "bf16")));
  const Mapping exchanges{.expert_parallel = 8, .data_parallel = 8};
  CHECK(beside(graph_of("deepseek-v3", SharedExperts::beside, exchanges, kDecodes)));
  CHECK_FALSE(beside(graph_of("deepseek-v3", SharedExperts::among, exchanges, kDecodes)));
}

TEST_CASE("Only iterations without prompts run shared experts on a second stream", "[unit]") {
  const Batch mixed{
      .decode_sequences = 16, .context = 1024, .prefill_sequences = 1, .prefill_tokens = 512};
  CHECK_FALSE(find(graph_of("deepseek-v3", SharedExperts::beside, kTensor, mixed), "moe.shared_up")
                  ->overlapped);
  CHECK(find(graph_of("deepseek-v3", SharedExperts::beside, kTensor, kDecodes), "moe.shared_up")
            ->overlapped);
}

TEST_CASE("An all-reduce adds shared experts to those of kernels generated for NVFP4", "[unit]") {
  Fusion generated;
  generated.alternative_experts = true;
  const auto adds = [&](std::string_view precision) {
    return find(graph_of("deepseek-v3", SharedExperts::beside, kTensor, kDecodes, generated,
                         precision),
                "moe.add_shared") != nullptr;
  };
  CHECK_FALSE(adds("deepseek_nvfp4"));
  CHECK(adds("fp8_block"));
}

TEST_CASE("A kernel of its own quantises what absorbed weights write, whatever a stack fuses",
          "[unit]") {
  Fusion all;
  all.quantise = workloads::QuantiseFusion::all;
  for (const char* precision : {"fp8_block", "deepseek_nvfp4"}) {
    CHECK(find(graph_of("deepseek-v3", SharedExperts::before, kTensor, kDecodes, all, precision),
               "attention.quantise_out") != nullptr);
  }
  CHECK(find(graph_of("deepseek-v3", SharedExperts::before, kTensor, kDecodes, all, "bf16"),
             "attention.quantise_out") == nullptr);
}

TEST_CASE("Without fusion a kernel quantises the input of each product of latent attention",
          "[unit]") {
  Fusion none;
  const Graph graph = graph_of("deepseek-v3", SharedExperts::before, kTensor, kDecodes, none);
  for (const char* name : {"attention.quantise", "attention.quantise_latent",
                           "attention.quantise_out", "moe.quantise_shared"}) {
    CHECK(find(graph, name) != nullptr);
  }
}

}  // namespace roofcast::unit_workloads_shared_experts
