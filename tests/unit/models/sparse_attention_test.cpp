// SPDX-License-Identifier: Apache-2.0
//
// Windows, chunks and chosen keys: what attention leaves out.
#include <algorithm>

#include "models/footprint.hpp"
#include "models/work.hpp"
#include "tests/catch.hpp"
#include "tests/laws/catalog.hpp"
#include "workloads/graph/graph.hpp"

namespace roofcast::unit_models_sparse_attention {

using base::NumberFormat;

namespace {

// DeepSeek-V3 with the index of V3.2: 64 heads of 128, the best 2048 keys.
workloads::Architecture indexed() {
  workloads::Architecture m = laws::model("deepseek-v3");
  m.attention.index = {64, 128, 2048};
  return m;
}

workloads::Graph graph_of(const workloads::Architecture& m, const workloads::Batch& batch) {
  workloads::Graph graph;
  workloads::build_graph(m, laws::precision("fp8_block"), {}, {}, batch, graph);
  return graph;
}

const workloads::Call* find(const workloads::Graph& graph, std::string_view name) {
  const auto it = std::find_if(graph.begin(), graph.end(),
                               [&](const workloads::Call& c) { return c.name == name; });
  return it == graph.end() ? nullptr : &*it;
}

double brute_chunked(std::int64_t n, std::int64_t cached, std::int64_t window) {
  std::int64_t pairs = 0;
  for (std::int64_t i = cached; i < cached + n; ++i) {
    pairs += i % window + 1;
  }
  return static_cast<double>(pairs);
}

}  // namespace

TEST_CASE("Chunked attention sees the tokens since the last multiple of the chunk", "[unit]") {
  for (const std::int64_t n : {1, 3, 8, 9, 64, 100}) {
    for (const std::int64_t cached : {0, 1, 7, 8, 63, 200}) {
      for (const std::int64_t window : {1, 2, 8, 64, 1000}) {
        INFO(n << " new, " << cached << " cached, chunk " << window);
        CHECK(models::causal_pairs(n, cached, window, true) == brute_chunked(n, cached, window));
      }
    }
  }
  workloads::AttentionHeads heads{8, 1, 128, 128, 64, 256, NumberFormat::bf16, true};
  CHECK(models::visible_keys(heads, 64) == 64.0);
  CHECK(models::visible_keys(heads, 1'000'000) == 32.5);  // the mean over a chunk
  heads.chunked = false;
  CHECK(models::visible_keys(heads, 1'000'000) == 64.0);
}

// 3 sequences of 10 new tokens after 90: pairs = 3·(10·90 + 55); 2 heads of 4 dimensions in fp8:
// FLOP = 2·2·4·pairs. Bytes a sequence: 100 keys and 10·2 queries of 4, scores of 955 pairs in fp32
// written and read, 10·32 chosen positions.
TEST_CASE("An index scores every earlier key and keeps the best", "[unit]") {
  const models::Work work = models::index_scores_work({2, 4, 32, 3, 10, 90, NumberFormat::fp8});
  CHECK(work.flop.si() == 2.0 * 2 * 4 * 3 * 955);
  CHECK(work.bytes.si() == 3.0 * ((100 + 20) * 4 + 2 * 955 * 4 + 10 * 32 * 4));
}

TEST_CASE("With an index attention reads the chosen keys, in decode and in long prompts",
          "[unit]") {
  const auto m = indexed();
  const auto decode = graph_of(m, {8, 1, 100'000, 0, 0, 0});
  const auto& read = std::get<workloads::DecodeAttention>(find(decode, "attention.decode")->op);
  CHECK(models::visible_keys(read.heads, read.context) == 2048.0);
  CHECK(std::get<workloads::IndexScores>(find(decode, "index.decode")->op).cached == 100'000);

  // A long prompt attends to latents, not to expanded heads; a short one is dense.
  const auto prompt = graph_of(m, {0, 1, 0, 1, 32'768, 0});
  CHECK(
      std::get<workloads::PrefillAttention>(find(prompt, "attention.prefill")->op).heads.kv_heads ==
      1);
  CHECK(find(prompt, "attention.expand") == nullptr);
  CHECK(find(prompt, "attention.absorb_query") != nullptr);
  // Of 8,192 queries the latent form has 14.7 M pairs of 1088 multiply-adds, the other one 33.6 M of 320.
  const auto brief = graph_of(m, {0, 1, 0, 1, 8192, 0});
  CHECK(
      std::get<workloads::PrefillAttention>(find(brief, "attention.prefill")->op).heads.kv_heads ==
      128);
  CHECK(find(brief, "attention.expand") != nullptr);
}

// 64·128 from the query's latent of 1536, a key of 128 and 64 weights from the hidden 7168, a layer;
// and 128 more bytes of cache a token and layer beside 576.
TEST_CASE("The index has its own projections and its own key cache", "[unit]") {
  const auto m = indexed();
  const auto graph = graph_of(m, {8, 1, 100, 0, 0, 0});
  CHECK(std::get<workloads::Gemm>(find(graph, "index.query")->op).n == 8192);
  CHECK(std::get<workloads::Gemm>(find(graph, "index.query")->op).k == 1536);
  CHECK(std::get<workloads::Gemm>(find(graph, "index.key")->op).n == 192);
  const auto fp8 = laws::precision("fp8_block");
  CHECK(models::cache_bytes(1.0, m, fp8, {}, 1).si() == 61.0 * (576 + 128));
  CHECK(models::cache_bytes(1.0, laws::model("deepseek-v3"), fp8, {}, 1).si() == 61.0 * 576);
}

}  // namespace roofcast::unit_models_sparse_attention
