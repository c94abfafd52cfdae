// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/graph.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <tuple>
#include <vector>

#include "models/work.hpp"
#include "tests/catch.hpp"
#include "tests/laws/cases/violations.hpp"
#include "tests/laws/catalog.hpp"
#include "workloads/architecture/parameters.hpp"

namespace roofcast::unit_workloads_graph {

using laws::model;
using laws::precision;
using workloads::Batch;
using workloads::Fusion;
using workloads::Graph;
using workloads::Mapping;
using workloads::MappingFault;

namespace {

// Of the mean rank, as all ranks together are many of it.
Graph graph_of(const workloads::Architecture& m, const Mapping& mapping, Batch batch,
               std::string_view format = "bf16", Fusion fusion = {}) {
  batch.mean_rank = true;
  Graph graph;
  workloads::build_graph(m, precision(format), mapping, fusion, batch, graph);
  return graph;
}

// Ranks that share experts evenly.
workloads::Architecture evenly_loaded(workloads::Architecture model) {
  model.moe.popularity.variation = 0.0;
  return model;
}

bool is_linear(const workloads::Operator& op) {
  return std::holds_alternative<workloads::Gemm>(op) ||
         std::holds_alternative<workloads::GroupedGemm>(op);
}

// FLOP of all linear layers of one rank, each divided by the times the work is repeated.
template <class Repeats>
double linear_flop(const Graph& graph, Repeats repeats) {
  double sum = 0.0;
  for (const auto& call : graph) {
    if (is_linear(call.op)) {
      sum += call.count * models::work_of(call.op).flop.si() / repeats(call);
    }
  }
  return sum;
}
double linear_flop(const Graph& graph) {
  return linear_flop(graph, [](const workloads::Call&) { return 1.0; });
}

const workloads::Call* find(const Graph& graph, std::string_view name) {
  const auto it = std::find_if(graph.begin(), graph.end(),
                               [&](const workloads::Call& c) { return c.name == name; });
  return it == graph.end() ? nullptr : &*it;
}
template <class Op>
const Op& op_of(const Graph& graph, std::string_view name) {
  const workloads::Call* call = find(graph, name);
  REQUIRE(call != nullptr);
  return std::get<Op>(call->op);
}

}  // namespace

// Each of 100 tokens multiplies every parameter of the linear layers and, where it needs logits,
// the head: 2 FLOP a parameter. Linear parameters of Llama-3.1-8B: 32·(41 943 040 + 176 160 768).
TEST_CASE("A token costs two FLOP for each parameter it touches", "[unit]") {
  const double layers = 32.0 * (41'943'040.0 + 176'160'768.0);
  const double head = 128256.0 * 4096.0;
  const auto& llama = model("llama-3.1-8b");
  CHECK(linear_flop(graph_of(llama, {}, {100, 1, 500, 0, 0, 0})) == 200.0 * (layers + head));
  // Of a prompt, only the last token needs logits.
  CHECK(linear_flop(graph_of(llama, {}, {0, 1, 0, 2, 50, 0})) == 200.0 * layers + 4.0 * head);
}

// Queries from a low rank (Step-3), decays and gates from one (Kimi Linear): what is counted is what is multiplied.
TEST_CASE("Projections of a low rank cost two FLOP for each parameter that they add", "[unit]") {
  const Batch batch{100, 1, 500, 0, 0, 0};
  const auto added = [&](const workloads::Architecture& plain,
                         const workloads::Architecture& ranked) {
    const auto linear = [](const workloads::Architecture& m) {
      const workloads::LayerParameters p = workloads::parameters(m).layers;
      return p.attention + p.recurrent;
    };
    const double parameters = linear(ranked) - linear(plain);
    CHECK(parameters != 0.0);
    CHECK(linear_flop(graph_of(ranked, {}, batch)) - linear_flop(graph_of(plain, {}, batch)) ==
          Approx(200.0 * parameters).epsilon(1e-9));
  };
  auto queries = model("llama-3.1-8b");
  queries.attention.q_rank = 512;
  added(model("llama-3.1-8b"), queries);
  auto gates = model("qwen3-next-80b-a3b");
  gates.delta_net.gate_rank = 128;
  added(model("qwen3-next-80b-a3b"), gates);
}

// What every rank of a replica adds up to. Repeated on purpose on all tensor ranks: the router, MLA's
// down projections, the index and, unless tokens are exchanged, the latent projections (their results
// are needed whole everywhere); KV heads and key heads fewer than ranks.
TEST_CASE("The ranks of a replica share the work of the whole model", "[unit]") {
  laws::Violations law(1e-12);
  for (const auto& model : laws::models()) {
    const auto m = evenly_loaded(model);
    for (const Mapping& mapping : laws::mappings(m)) {
      const auto tp = static_cast<double>(mapping.tensor_parallel);
      const auto dp = mapping.data_parallel;
      for (const Batch& batch : laws::batches()) {
        Batch whole = batch;  // of all attention-DP ranks
        whole.decode_sequences *= dp;
        whole.prefill_sequences *= dp;
        const std::int64_t kv = m.attention.kv_heads * m.attention.head_dim;
        const std::int64_t own = (m.attention.kv_heads + mapping.tensor_parallel - 1) /
                                 mapping.tensor_parallel * m.attention.head_dim;
        const std::int64_t query = (m.attention.output_gate ? 2 : 1) * m.attention.query_heads /
                                   mapping.tensor_parallel * m.attention.head_dim;
        const auto tokens = static_cast<double>(batch.decode_sequences * batch.query_tokens +
                                                batch.prefill_sequences * batch.prefill_tokens);
        const double one =
            linear_flop(graph_of(m, mapping, batch), [&](const workloads::Call& call) {
              if (call.name == "moe.router" || call.name == "attention.down" ||
                  call.name.substr(0, 6) == "index.") {
                return tp;
              }
              if (call.name == "moe.latent_down" || call.name == "moe.latent_up" ||
                  call.name == "bottom_mlp" || call.name == "top_mlp") {
                return static_cast<double>(std::get<workloads::Gemm>(call.op).m) * tp / tokens;
              }
              if (call.name == "mamba.in" || call.name == "delta_net.in") {
                const auto& r = call.name == "mamba.in" ? m.mamba : m.delta_net;
                return static_cast<double>(std::get<workloads::Gemm>(call.op).n) * tp /
                       static_cast<double>(r.projected());
              }
              if (call.name == "attention.qkv") {
                const auto held = static_cast<double>(query + 2 * own);
                return held / (static_cast<double>(query) + 2.0 * static_cast<double>(kv) / tp);
              }
              if (call.name == "head.logits") {  // a vocabulary that does not divide is padded
                const auto n = static_cast<double>(std::get<workloads::Gemm>(call.op).n);
                return n * tp / static_cast<double>(m.vocab);
              }
              return 1.0;
            });
        const double all = linear_flop(graph_of(m, {}, whole));
        law.add(std::abs(one * tp * static_cast<double>(dp) / all - 1.0),
                [&] { return m.id + " " + laws::describe(mapping); });
      }
    }
  }
  ROOFCAST_CHECK_LAW(law);
}

TEST_CASE("Every token visits its experts once, however they are spread", "[unit]") {
  for (const auto& model : laws::models()) {
    if (model.moe.experts == 0) {
      continue;
    }
    const auto m = evenly_loaded(model);
    for (const Mapping& mapping : laws::mappings(m)) {
      INFO(m.id << " " << laws::describe(mapping));
      const Batch batch{60, 1, 900, 2, 500, 0};
      const Graph graph = graph_of(m, mapping, batch);
      const auto& up = op_of<workloads::GroupedGemm>(graph, "moe.up");
      // Ranks that cut one expert's width hold the same pairs.
      const auto holders =
          static_cast<double>(mapping.expert_ranks() / mapping.expert_tensor_parallel());
      const auto tokens = static_cast<double>(batch.tokens() * mapping.data_parallel);
      CHECK(up.pairs * holders == Approx(tokens * static_cast<double>(m.moe.top_k)));
      CHECK(up.distinct <= static_cast<double>(m.moe.experts / mapping.expert_parallel));
      CHECK(op_of<workloads::GroupedGemm>(graph, "moe.down").pairs == up.pairs);
      CHECK(op_of<workloads::ExpertRouting>(graph, "moe.routing").pairs == up.pairs);
    }
  }
}

TEST_CASE("Whole experts get their tokens by an all-to-all, or all tokens by a gather", "[unit]") {
  const workloads::Architecture& m = laws::model("deepseek-v3");  // 8 experts a token
  const auto names = [&](workloads::Exchange exchange, std::int64_t ranks) {
    workloads::Fusion fusion;
    fusion.exchange = exchange;
    workloads::Mapping mapping;
    mapping.data_parallel = ranks;
    mapping.expert_parallel = ranks;
    workloads::Graph graph;
    workloads::build_graph(m, laws::precision("fp8_block"), mapping, fusion,
                           {.decode_sequences = 4, .context = 1024}, graph);
    std::set<std::string_view> found;
    for (const auto& call : graph) {
      found.insert(call.name);
    }
    return found;
  };
  using workloads::Exchange;
  for (const auto& [exchange, ranks, gathers] :
       {std::tuple{Exchange::all_to_all, 8, false}, std::tuple{Exchange::gather, 16, true},
        std::tuple{Exchange::gather_few, 8, true}, std::tuple{Exchange::gather_few, 16, false}}) {
    const auto found = names(exchange, ranks);
    CHECK(found.count("moe.gather") == (gathers ? 1U : 0U));
    CHECK(found.count("moe.scatter") == (gathers ? 1U : 0U));
    CHECK(found.count("moe.dispatch") == (gathers ? 0U : 1U));
    CHECK(found.count("moe.combine") == (gathers ? 0U : 1U));
  }
}

TEST_CASE("A mixed batch's linear layers do the work of its decodes and of its prompts", "[unit]") {
  for (const auto& m : laws::models()) {
    for (const Mapping& mapping : laws::mappings(m)) {
      INFO(m.id << " " << laws::describe(mapping));
      const double both = linear_flop(graph_of(m, mapping, {200, 1, 1500, 2, 1000, 3000}));
      const double decodes = linear_flop(graph_of(m, mapping, {200, 1, 1500, 0, 0, 0}));
      const double prompts = linear_flop(graph_of(m, mapping, {0, 1, 0, 2, 1000, 3000}));
      CHECK(both == Approx(decodes + prompts).epsilon(1e-12));
    }
  }
}

TEST_CASE("Sequence parallelism moves the bytes of the all-reduces it replaces", "[unit]") {
  const auto sent = [](const Graph& graph) {
    double bytes = 0.0;
    for (const auto& call : graph) {
      bytes += call.count * models::work_of(call.op).message.si();
    }
    return bytes;
  };
  for (const auto& m : laws::models()) {
    INFO(m.id);
    const Batch batch{64, 1, 1000, 1, 2000, 0};
    const Graph plain = graph_of(m, {8, 1, 1, 1, false}, batch);
    const Graph sharded = graph_of(m, {8, 1, 1, 1, true}, batch);
    CHECK(sent(plain) > 0.0);
    CHECK(sent(sharded) == Approx(sent(plain)).epsilon(1e-12));
    // …and norms touch an eighth of the residual stream.
    const char* name = m.recommender ? "mlp.norm" : "attention.norm";
    const auto& norm = op_of<workloads::Elementwise>(plain, name);
    const auto& shard = op_of<workloads::Elementwise>(sharded, name);
    CHECK(shard.read_bytes == norm.read_bytes / 8.0);
  }
}

// DeepSeek-V3 on 8 ranks, 16 heads each. Decode: one shared head of 512 + 64, two small products a
// head around it. Prefill of 1000 tokens after 500: 1500 latents expanded to 16·(128 + 128), heads
// of 128 + 64 and 128.
TEST_CASE("MLA decodes in the latent space and prefills in expanded heads", "[unit]") {
  const Mapping tp8{8, 1, 1, 1, false};
  const Graph decode = graph_of(model("deepseek-v3"), tp8, {32, 1, 4000, 0, 0, 0});
  const auto& attend = op_of<workloads::DecodeAttention>(decode, "attention.decode");
  CHECK(attend.heads.query_heads == 16);
  CHECK(attend.heads.kv_heads == 1);
  CHECK(attend.heads.cache_elements == 576);
  CHECK(models::work_of(attend).flop.si() == 2.0 * 16 * (576 + 512) * 32 * 4000);
  const auto& in = op_of<workloads::Gemm>(decode, "attention.absorb_query");
  const auto& out = op_of<workloads::Gemm>(decode, "attention.absorb_value");
  CHECK(models::work_of(in).flop.si() == 2.0 * 32 * 16 * 128 * 512);
  CHECK(models::work_of(out).flop.si() == 2.0 * 32 * 16 * 512 * 128);
  CHECK(find(decode, "attention.expand") == nullptr);

  const Graph prefill = graph_of(model("deepseek-v3"), tp8, {0, 1, 0, 1, 1000, 500});
  const auto& full = op_of<workloads::PrefillAttention>(prefill, "attention.prefill");
  const double pairs = 1000.0 * 500 + 1000.0 * 1001 / 2;
  CHECK(models::work_of(full).flop.si() == 2.0 * 16 * (192 + 128) * pairs);
  const auto& expand = op_of<workloads::Gemm>(prefill, "attention.expand");
  CHECK(models::work_of(expand).flop.si() == 2.0 * 1500 * 512 * 16 * (128 + 128));
  CHECK(find(prefill, "attention.absorb_query") == nullptr);
}

TEST_CASE("Layers of a kind collapse into one call with their number", "[unit]") {
  const Graph oss = graph_of(model("gpt-oss-120b"), {}, {8, 1, 4000, 0, 0, 0});
  double windowed = 0.0;
  double full = 0.0;
  for (const auto& call : oss) {
    if (const auto* op = std::get_if<workloads::DecodeAttention>(&call.op)) {
      (op->heads.window == 128 ? windowed : full) += call.count;
    }
  }
  CHECK(windowed == 18.0);
  CHECK(full == 18.0);
  const Graph deepseek = graph_of(model("deepseek-v3"), {}, {8, 1, 4000, 0, 0, 0});
  CHECK(find(deepseek, "mlp.up")->count == 3.0);
  CHECK(find(deepseek, "moe.up")->count == 58.0);
}

TEST_CASE("Activations of a narrow format are quantised in a kernel of their own unless fused",
          "[unit]") {
  const Batch batch{8, 1, 1000, 0, 0, 0};
  const auto& llama = model("llama-3.1-8b");
  const auto is_apart = [&](std::string_view format, workloads::QuantiseFusion fusion) {
    return find(graph_of(llama, {}, batch, format, {fusion}), "mlp.quantise") != nullptr;
  };
  using workloads::QuantiseFusion;
  CHECK(is_apart("fp8", QuantiseFusion::none));
  CHECK_FALSE(is_apart("fp8", QuantiseFusion::tensors));
  CHECK_FALSE(is_apart("fp8", QuantiseFusion::all));
  CHECK(is_apart("fp8", QuantiseFusion::all_reduces));
  CHECK(is_apart("fp8_block", QuantiseFusion::tensors));
  CHECK(is_apart("nvfp4", QuantiseFusion::tensors));
  CHECK(is_apart("fp8_block", QuantiseFusion::all_but_fp8_blocks));
  CHECK_FALSE(is_apart("nvfp4", QuantiseFusion::all_but_fp8_blocks));
  CHECK_FALSE(is_apart("fp8", QuantiseFusion::all_but_fp8_blocks));
  CHECK_FALSE(is_apart("fp8_block", QuantiseFusion::all));
  CHECK_FALSE(is_apart("nvfp4", QuantiseFusion::all));
  CHECK_FALSE(is_apart("bf16", QuantiseFusion::none));
}

TEST_CASE("The output projection of attention has a format of its own where it is named",
          "[unit]") {
  const Graph graph = graph_of(model("deepseek-v3"), {}, {8, 1, 1000}, "deepseek_nvfp4");
  const auto weights = [&](std::string_view name) {
    return op_of<workloads::Gemm>(graph, name).weights;
  };
  CHECK(weights("attention.out") == base::NumberFormat::nvfp4);
  CHECK(weights("attention.down") == base::NumberFormat::bf16);
  CHECK(weights("attention.query") == base::NumberFormat::bf16);
  CHECK(weights("moe.shared_up") == base::NumberFormat::nvfp4);
}

TEST_CASE("An all-reduce that normalises leaves no norm, unless it is large", "[unit]") {
  const auto& llama = model("llama-3.1-8b");
  Mapping tp8;
  tp8.tensor_parallel = 8;
  Fusion fusion;
  fusion.norm = true;
  const auto norms = [&](const Mapping& mapping, std::int64_t prompt) {
    const Graph graph = graph_of(llama, mapping, {0, 1, 0, 1, prompt, 0}, "bf16", fusion);
    return find(graph, "attention.norm") != nullptr || find(graph, "mlp.norm") != nullptr;
  };
  const auto most = static_cast<std::int64_t>(workloads::kFusedNormBytes /
                                              (2.0 * static_cast<double>(llama.hidden)));
  CHECK_FALSE(norms(tp8, most));
  CHECK(norms(tp8, most + 1));
  CHECK(norms({}, most));
  const Graph experts = graph_of(model("gpt-oss-120b"), tp8, {8, 1, 1000}, "bf16", fusion);
  CHECK(find(experts, "attention.norm") != nullptr);
  tp8.sequence_parallel = true;
  CHECK(norms(tp8, most));
}

TEST_CASE("A norm over all heads adds up two squares a token between the ranks", "[unit]") {
  Mapping tp4;
  tp4.tensor_parallel = 4;
  const Graph graph = graph_of(model("minimax-m2"), tp4, {8, 1, 1000, 0, 0, 0});
  const auto& sum = op_of<workloads::Collective>(graph, "attention.qk_all_reduce");
  CHECK(sum.bytes == 8 * 2 * 4.0);
  CHECK(sum.ranks == 4);
  CHECK(find(graph_of(model("minimax-m2"), {}, {8, 1, 1000, 0, 0, 0}), "attention.qk_all_reduce") ==
        nullptr);
  CHECK(find(graph_of(model("qwen3-32b"), tp4, {8, 1, 1000, 0, 0, 0}), "attention.qk_all_reduce") ==
        nullptr);
}

// 64 tokens of Llama-3.1-8B: 8 heads of keys and 8 of values, of 128 elements, in bf16; 32 heads of queries.
TEST_CASE("A kernel of its own writes the cache where the stack has one", "[unit]") {
  const auto graph = [&](bool separate) {
    Fusion fusion;
    fusion.separate_cache_write = separate;
    return graph_of(model("llama-3.1-8b"), {}, {64, 1, 1024}, "bf16", fusion);
  };
  const double keys = 64.0 * 8.0 * 128.0 * 2.0;
  CHECK(find(graph(false), "attention.cache_write") == nullptr);
  const auto rope = op_of<workloads::Elementwise>(graph(false), "attention.rope");
  const auto alone = op_of<workloads::Elementwise>(graph(true), "attention.rope");
  const auto write = op_of<workloads::Elementwise>(graph(true), "attention.cache_write");
  CHECK(write.read_bytes == 2.0 * keys);
  CHECK(write.written_bytes == 2.0 * keys);
  CHECK(alone.read_bytes == rope.read_bytes - keys);
  CHECK(alone.written_bytes == rope.written_bytes - keys);
}

// Draws with a fixed seed: each token picks top_k of the experts without repetition.
TEST_CASE("A router in fp32 is multiplied in fp32, or in tf32 where the stack does so", "[unit]") {
  const Mapping one;
  const Batch batch{64, 1, 1024};
  const auto router = [&](std::string_view id, bool tf32) {
    Fusion fusion;
    fusion.tf32_products = tf32;
    return op_of<workloads::Gemm>(graph_of(model(id), one, batch, "fp8_block", fusion),
                                  "moe.router")
        .weights;
  };
  CHECK(router("minimax-m2", false) == base::NumberFormat::fp32);
  CHECK(router("minimax-m2", true) == base::NumberFormat::tf32);
  CHECK(router("qwen3-235b-a22b", true) == base::NumberFormat::bf16);
}

TEST_CASE("A mapping that does not divide the model is named by its fault", "[unit]") {
  const auto& llama = model("llama-3.1-70b");
  const auto& qwen = model("qwen3-235b-a22b");
  CHECK(workloads::fault_of(llama, {8, 1, 1, 1, false}) == MappingFault::none);
  CHECK(workloads::fault_of(llama, {3, 1, 1, 1, false}) == MappingFault::heads);
  CHECK(workloads::fault_of(llama, {1, 81, 1, 1, false}) == MappingFault::layers);
  CHECK(workloads::fault_of(llama, {2, 1, 2, 1, false}) == MappingFault::no_experts);
  CHECK(workloads::fault_of(qwen, {2, 1, 3, 1, false}) == MappingFault::expert_ranks);
  CHECK(workloads::fault_of(qwen, {8, 1, 8, 2, false}) == MappingFault::none);
  CHECK(workloads::fault_of(qwen, {64, 1, 1, 1, false}) == MappingFault::none);
  CHECK(workloads::fault_of(qwen, {1, 1, 3, 3, false}) == MappingFault::experts);
  CHECK(workloads::fault_of(qwen, {1, 1, 1, 7, false}) == MappingFault::expert_width);
}

}  // namespace roofcast::unit_workloads_graph
