// SPDX-License-Identifier: Apache-2.0
//
// Prompts and caches cut along the context.
#include <algorithm>

#include "models/footprint.hpp"
#include "models/work.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"
#include "tests/laws/catalog.hpp"
#include "workloads/graph/graph.hpp"

namespace roofcast::unit_sim_context_parallel {

using workloads::CollectiveKind;
using workloads::ContextMethod;
using workloads::Mapping;
using workloads::MappingFault;

namespace {

Mapping cut(std::int64_t tensor, std::int64_t context, ContextMethod method = ContextMethod::ring) {
  Mapping m;
  m.tensor_parallel = tensor;
  m.context_parallel = context;
  m.context_method = method;
  return m;
}
Mapping decode_cut(std::int64_t tensor, std::int64_t parts) {
  Mapping m;
  m.tensor_parallel = tensor;
  m.decode_context_parallel = parts;
  return m;
}

workloads::Graph graph_of(std::string_view model, const Mapping& mapping,
                          const workloads::Batch& batch) {
  workloads::Graph graph;
  workloads::build_graph(laws::model(model), laws::precision("bf16"), mapping, {}, batch, graph);
  return graph;
}

const workloads::Call* find(const workloads::Graph& graph, std::string_view name) {
  const auto it = std::find_if(graph.begin(), graph.end(),
                               [&](const workloads::Call& c) { return c.name == name; });
  return it == graph.end() ? nullptr : &*it;
}
template <class Op>
const Op& op_of(const workloads::Graph& graph, std::string_view name) {
  REQUIRE(find(graph, name) != nullptr);
  return std::get<Op>(find(graph, name)->op);
}
double prefill_flop(const workloads::Graph& graph) {
  return models::work_of(find(graph, "attention.prefill")->op).flop.si();
}

}  // namespace

TEST_CASE("Context ranks share a prompt's tokens and attention pairs evenly", "[unit]") {
  const workloads::Batch prompt{0, 1, 0, 1, 8192, 0};
  const double alone = prefill_flop(graph_of("llama-3.1-8b", {}, prompt));
  for (const auto method : {ContextMethod::ring, ContextMethod::ulysses}) {
    const auto graph = graph_of("llama-3.1-8b", cut(1, 4, method), prompt);
    CHECK(4.0 * prefill_flop(graph) == Approx(alone).epsilon(1e-3));
    CHECK(op_of<workloads::Gemm>(graph, "mlp.up").m == 2048);
  }
}

// Ring: 3 times a quarter of the 8192 tokens' keys and values (2·8 heads·128 in bf16), 32 layers.
// Ulysses: a rank hands out queries (32 heads), keys and values of its 2048 tokens, then outputs.
TEST_CASE("Rings pass keys and values on, ulysses trades tokens for heads", "[unit]") {
  const workloads::Batch prompt{0, 1, 0, 1, 8192, 0};
  const auto ring = graph_of("llama-3.1-8b", cut(1, 4), prompt);
  const auto& passed = op_of<workloads::Collective>(ring, "attention.ring");
  CHECK(passed.bytes == 2048.0 * 2 * 8 * 128 * 2);
  CHECK(find(ring, "attention.ring")->count == 32.0 * 3);
  CHECK(find(ring, "attention.ring")->overlapped);
  const auto ulysses = graph_of("llama-3.1-8b", cut(1, 4, ContextMethod::ulysses), prompt);
  CHECK(op_of<workloads::Collective>(ulysses, "attention.to_heads").bytes ==
        2048.0 * (32 + 2 * 8) * 128 * 2);
  CHECK(op_of<workloads::Collective>(ulysses, "attention.to_tokens").bytes ==
        2048.0 * 32 * 128 * 2);
  CHECK(op_of<workloads::PrefillAttention>(ulysses, "attention.prefill").heads.query_heads == 8);
}

// DeepSeek-V3 on four ranks: each expands the latents of all 8192 tokens for its 32 heads, and hands its
// 2048 latents of 576 to all four. Llama's 8 KV heads on sixteen ranks go to two each. Of 4096 cached
// tokens and 8192 new ones a rank of four holds 3072, and all must reach their heads.
TEST_CASE("Ulysses copies keys that several ranks need, and expands latents for a rank's heads",
          "[unit]") {
  const auto ulysses = ContextMethod::ulysses;
  const workloads::Batch prompt{0, 1, 0, 1, 8192, 0};
  const auto latent = graph_of("deepseek-v3", cut(1, 4, ulysses), prompt);
  CHECK(op_of<workloads::Gemm>(latent, "attention.expand").m == 8192);
  CHECK(op_of<workloads::Gemm>(latent, "attention.expand").n == 32 * (128 + 128));
  CHECK(op_of<workloads::Collective>(latent, "attention.to_heads").bytes ==
        2048.0 * 128 * 192 * 2 + 4 * 2048.0 * 576 * 2);
  const auto few = graph_of("llama-3.1-8b", cut(1, 16, ulysses), prompt);
  CHECK(op_of<workloads::Collective>(few, "attention.to_heads").bytes ==
        512.0 * (32 + 2 * 2 * 8) * 128 * 2);
  const auto cached = graph_of("llama-3.1-8b", cut(1, 4, ulysses), {0, 1, 0, 1, 8192, 4096});
  CHECK(op_of<workloads::Collective>(cached, "attention.to_heads").bytes ==
        (2048.0 * 32 + 3072.0 * 2 * 8) * 128 * 2);
}

// DeepSeek-V3 on 2 × 4 ranks: experts return an eighth of the 32 decoding rows to each, which tensor and
// context groups put together again.
TEST_CASE("Decoding rows that experts spread over a context group come back to every rank",
          "[unit]") {
  for (const std::int64_t experts : {8, 2}) {
    Mapping mapping = cut(2, 4);
    mapping.expert_parallel = experts;
    const auto graph = graph_of("deepseek-v3", mapping, {32, 1, 8000, 0, 0, 0});
    const auto& shared = op_of<workloads::Collective>(graph, "moe.gather_decodes");
    CHECK(shared.bytes == 32.0 / 2 * 7168 * 2);
    CHECK(shared.ranks == 4);
    CHECK(shared.stride == 2);
    CHECK(find(graph, experts == 8 ? "moe.all_reduce" : "moe.all_gather") != nullptr);
    const auto prompts = graph_of("deepseek-v3", mapping, {0, 1, 0, 1, 8192, 0});
    CHECK(find(prompts, "moe.gather_decodes") == nullptr);
  }
}

TEST_CASE("A transfer beside attention takes only the time attention does not hide", "[unit]") {
  sim::Scenario s{laws::platform("hgx_h200"),
                  laws::model("llama-3.1-8b"),
                  laws::precision("bf16"),
                  {{cut(1, 4), {}}, {}},
                  laws::servings().front(),
                  {},
                  {}};
  s.platform.machine.power = {};  // full clocks
  const auto ring_time = [&](std::int64_t tokens) {
    double attention = 0.0;
    for (const auto& line : sim::iteration_operators(sim::view(s), {0, 1, 0, 1, tokens, 0})) {
      const double all = line.call.count * line.cost.time.si();
      if (line.call.name == "attention.prefill") {
        attention = all;
        CHECK(line.time.si() == all);
      } else if (line.call.name == "attention.ring") {
        CHECK(line.time.si() == Approx(std::max(0.0, all - attention)).margin(1e-12));
        return line.time.si();
      }
    }
    return -1.0;
  };
  CHECK(ring_time(256) > 0.0);       // latency of the hops shows
  CHECK(ring_time(131'072) == 0.0);  // a long prompt hides them
}

// Llama-3.1-8B, 8 KV heads on 16 tensor ranks: two copies of each, which may be cut in two.
TEST_CASE("Decode context ranks cut copies of the cache and merge partial outputs", "[unit]") {
  const auto& llama = laws::model("llama-3.1-8b");
  CHECK(workloads::fault_of(llama, decode_cut(16, 2)) == MappingFault::none);
  CHECK(workloads::fault_of(llama, decode_cut(8, 2)) == MappingFault::decode_context);
  CHECK(workloads::fault_of(laws::model("deepseek-v3"), decode_cut(8, 8)) == MappingFault::none);
  CHECK(workloads::fault_of(llama, cut(8, 8, ContextMethod::ulysses)) ==
        MappingFault::context_heads);

  const auto bf16 = laws::precision("bf16");
  const double whole = models::cache_bytes(4096.0, llama, bf16, {16, 1, 1, 1}, 1).si();
  CHECK(models::cache_bytes(4096.0, llama, bf16, decode_cut(16, 2), 1).si() == whole / 2);

  // DeepSeek-V3 on 8 ranks: each has 16 query heads, gathers all 128 and reads an eighth of the context.
  const auto graph = graph_of("deepseek-v3", decode_cut(8, 8), {32, 1, 8000, 0, 0, 0});
  const auto& read = op_of<workloads::DecodeAttention>(graph, "attention.decode");
  CHECK(read.heads.query_heads == 128);
  CHECK(read.context == 1000);
  const auto& gathered = op_of<workloads::Collective>(graph, "attention.gather_queries");
  CHECK(gathered.kind == CollectiveKind::all_gather);
  CHECK(gathered.bytes == 32.0 * 128 * 576 * 2);
  const auto& merged = op_of<workloads::Collective>(graph, "attention.merge");
  CHECK(merged.kind == CollectiveKind::reduce_scatter);
  CHECK(merged.bytes == 32.0 * 128 * (512 * 2 + 4));
}

TEST_CASE("Context parallelism multiplies the ranks of a replica, decode context does not",
          "[unit]") {
  CHECK(cut(2, 4).ranks() == 8);
  CHECK(decode_cut(8, 4).ranks() == 8);
  CHECK(cut(2, 4).expert_ranks() == 8);
}

}  // namespace roofcast::unit_sim_context_parallel
