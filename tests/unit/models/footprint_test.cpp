// SPDX-License-Identifier: Apache-2.0
#include "models/footprint.hpp"

#include <cmath>

#include "tests/catch.hpp"
#include "tests/laws/cases/violations.hpp"
#include "tests/laws/catalog.hpp"
#include "workloads/architecture/parameters.hpp"

namespace roofcast::unit_models_footprint {

using laws::model;
using laws::precision;
using models::cache_bytes;
using models::weight_bytes;
using workloads::Mapping;

// 70 553 706 496 parameters: 1 318 912 in norms, which every rank keeps, the rest cut eight ways;
// 2 B each.
TEST_CASE("Llama-3.1-70B in bf16 puts an eighth of 141.1 GB on each of eight ranks", "[unit]") {
  const Mapping tp8{8, 1, 1, 1, false};
  const double bytes = weight_bytes(model("llama-3.1-70b"), precision("bf16"), tp8).si();
  CHECK(bytes == 2.0 * ((70'553'706'496.0 - 1'318'912.0) / 8.0 + 1'318'912.0));
  CHECK(bytes == Approx(141.1e9 / 8.0).epsilon(0.001));
}

// fp8 linear layers; embedding and head (2·128256·8192) stay in bf16.
TEST_CASE("Quantised weights leave the embedding, the head and the norms in bf16", "[unit]") {
  const double wide = 2.0 * 128256 * 8192 + 1'318'912.0;
  const double bytes = weight_bytes(model("llama-3.1-70b"), precision("fp8"), Mapping{}).si();
  CHECK(bytes == Approx(70'553'706'496.0 + wide).epsilon(1e-12));
}

// 256 experts of 3·7168·2048 in 58 layers, one byte each and a scale of 4 B a 16 384: 653.9 GB.
TEST_CASE("Experts are divided by expert ranks, however tensor and data share them", "[unit]") {
  const auto& deepseek = model("deepseek-v3");
  const auto& fp8 = precision("fp8_block");
  const double experts = 58.0 * 256 * 44'040'192.0 * (1.0 + 4.0 / 16384.0);
  const auto bytes = [&](Mapping m) { return weight_bytes(deepseek, fp8, m).si(); };
  CHECK(bytes({1, 1, 8, 8, false}) - bytes({1, 1, 16, 16, false}) == Approx(experts / 16.0));
  CHECK(bytes({8, 1, 8, 1, false}) == bytes({8, 1, 1, 1, false}));
  CHECK(bytes({8, 1, 8, 1, false}) < bytes({1, 1, 8, 8, false}));
}

TEST_CASE("Every pipeline stage holds at most a layer more than its share", "[unit]") {
  const auto& llama = model("llama-3.1-70b");
  const auto& bf16 = precision("bf16");
  const double whole = weight_bytes(llama, bf16, Mapping{}).si();
  const double table = 2.0 * 128256 * 8192;
  const double halves = weight_bytes(llama, bf16, {1, 2, 1, 1, false}).si();
  CHECK(halves == Approx((whole - 2.0 * table) / 2.0 + table).epsilon(1e-5));
  // 80 layers over 3 stages: 27 on the fullest.
  const double thirds = weight_bytes(llama, bf16, {1, 3, 1, 1, false}).si();
  CHECK(thirds == Approx((whole - 2.0 * table) * 27.0 / 80.0 + table).epsilon(1e-5));
}

// Llama-3.1-70B: 2·80·8·128 elements a token, 320 KiB in bf16; an eighth on each of 8 ranks, and
// no less on 16, where each still needs one whole KV head.
TEST_CASE("A token's cache is keys and values of every layer and KV head", "[unit]") {
  const auto& llama = model("llama-3.1-70b");
  const auto bytes = [&](double tokens, std::string_view format, Mapping m) {
    return cache_bytes(tokens, llama, precision(format), m, 1).si();
  };
  CHECK(bytes(1, "bf16", Mapping{}) == 320.0 * 1024);
  CHECK(bytes(1, "fp8", Mapping{}) == 160.0 * 1024);
  CHECK(bytes(1000, "bf16", {8, 1, 1, 1, false}) == 1000.0 * 40 * 1024);
  CHECK(bytes(1000, "bf16", {16, 1, 1, 1, false}) == 1000.0 * 40 * 1024);
  CHECK(bytes(1000, "bf16", {8, 2, 1, 1, false}) == 1000.0 * 20 * 1024);
  CHECK(bytes(1000, "bf16", {8, 1, 1, 4, false}) == 1000.0 * 40 * 1024);  // its own requests
}

// 61 layers of 512 + 64 elements, whatever the tensor parallelism: the latent is not cut.
TEST_CASE("DeepSeek-V3 caches one latent of 576 elements a token and layer on every rank",
          "[unit]") {
  const auto& deepseek = model("deepseek-v3");
  for (const std::int64_t tp : {1, 8, 16}) {
    const Mapping mapping{tp, 1, 1, 1, false};
    CHECK(cache_bytes(1, deepseek, precision("bf16"), mapping, 1).si() == 61.0 * 576 * 2);
    CHECK(cache_bytes(1, deepseek, precision("fp8"), mapping, 1).si() == 61.0 * 576);
  }
}

// gpt-oss-120b: 36 layers of 2·8·64 elements; half of them keep 128 tokens at most.
TEST_CASE("Sliding layers keep no more than their window", "[unit]") {
  const auto& oss = model("gpt-oss-120b");
  const auto bytes = [&](double tokens, std::int64_t block) {
    return cache_bytes(tokens, oss, precision("mxfp4_experts"), Mapping{}, block).si();
  };
  CHECK(bytes(100, 1) == 36.0 * 1024 * 2 * 100);
  CHECK(bytes(128, 1) == 36.0 * 1024 * 2 * 128);
  CHECK(bytes(4096, 1) == 18.0 * 1024 * 2 * (4096 + 128));
  CHECK(bytes(4097, 16) == 18.0 * 1024 * 2 * (4112 + 128));
}

TEST_CASE("A sequence holds whole blocks", "[unit]") {
  const auto& llama = model("llama-3.1-8b");  // 2·32·8·128·2 B = 128 KiB a token
  const auto tokens = [&](double length, std::int64_t block) {
    return cache_bytes(length, llama, precision("bf16"), Mapping{}, block).si() / 131072.0;
  };
  CHECK(tokens(1, 16) == 16.0);
  CHECK(tokens(16, 16) == 16.0);
  CHECK(tokens(17, 16) == 32.0);
  CHECK(tokens(17, 1) == 17.0);
}

TEST_CASE("What is left of the allowed memory is the cache's", "[unit]") {
  const auto& chip = laws::platform("hgx_h200").system.chip;
  for (const auto& serving : laws::servings()) {
    const auto f = models::footprint(chip, model("llama-3.1-70b"), precision("fp8"),
                                     {8, 1, 1, 1, false}, serving);
    const double fraction = serving.limits.memory_fraction;
    const base::Bytes usable = chip.usable_capacity();
    switch (serving.stack.fraction_of) {
      case workloads::FractionOf::device:
        CHECK(f.limit.si() == fraction * usable.si());
        break;
      case workloads::FractionOf::weights_and_cache:
        CHECK((f.weights + f.cache) / usable == Approx(fraction));
        break;
      case workloads::FractionOf::free_memory:
        CHECK(f.cache / (usable - f.fixed()) == Approx(fraction));
        break;
    }
    CHECK(f.limit <= usable);
    CHECK((f.weights + f.activations + f.reserve + f.cache) / f.limit == Approx(1.0));
    CHECK(f.activations > base::Bytes{});
    CHECK(f.reserve == serving.stack.runtime_reserve + serving.stack.collective_reserve);
    const auto alone =
        models::footprint(chip, model("llama-3.1-8b"), precision("fp8"), {}, serving);
    CHECK(alone.reserve == serving.stack.runtime_reserve);
  }
}

// What a rank multiplies it must also hold: every [k,n] of the step's graph, with the projections
// that are repeated on all ranks (MLA's down projections, KV heads fewer than ranks). Beside them
// the embedding table, the norms, and MLA's expansion a second time: decode multiplies a bf16 copy.
TEST_CASE("A rank holds the weights it multiplies", "[unit]") {
  laws::Violations law(1e-6);
  workloads::Graph graph;
  for (const auto& m : laws::models()) {
    for (const auto& p : laws::precisions()) {
      for (const auto& mapping : laws::mappings(m)) {
        if (!laws::natural(m, p) || mapping.pipeline_parallel > 1) {
          continue;
        }
        // So many tokens that every expert is hit.
        auto even = m;
        even.moe.popularity.variation = 0.0;
        workloads::build_graph(even, p, mapping, {}, {0, 1, 0, 1, 65536, 0}, graph);
        base::Bytes held{};
        for (const auto& call : graph) {
          if (const auto* g = std::get_if<workloads::Gemm>(&call.op)) {
            const auto elements = static_cast<double>(g->n * g->k * g->batch);
            held += call.count * base::bytes_of(elements, g->weights, g->storage);
          } else if (const auto* e = std::get_if<workloads::GroupedGemm>(&call.op)) {
            const double elements = e->distinct * static_cast<double>(e->n * e->k);
            held += call.count * base::bytes_of(elements, e->weights, e->storage);
          }
        }
        const auto count = workloads::parameters(m);
        const auto tp = static_cast<double>(mapping.tensor_parallel);
        // A table that is looked up, and the head of a model that makes no logits.
        if (!m.tied_embeddings || !m.autoregressive) {
          held += base::bytes_of(count.embedding / tp, p.head.weights);
        }
        if (!m.tied_embeddings && !m.autoregressive) {
          held += base::bytes_of(count.head / tp, p.head.weights);
        }
        held += base::bytes_of(count.vision, p.plain.weights);
        held += base::bytes_of(count.tables / static_cast<double>(mapping.stage_ranks()),
                               p.head.weights);
        held += base::bytes_of(count.layers.norms + count.final_norm, base::NumberFormat::bf16);
        if (m.attention.kind == workloads::AttentionKind::mla) {
          const auto& a = m.attention;
          const double expansion = static_cast<double>(m.layer_count() * a.query_heads * a.kv_rank *
                                                       (a.nope_dim + a.value_dim));
          // Held twice, of which prompts multiply one: with an index the absorbed one.
          held += base::bytes_of(
              expansion / tp, a.index.top_k > 0 ? p.attention.weights : base::NumberFormat::bf16);
        }
        law.add(std::abs(weight_bytes(m, p, mapping) / held - 1.0),
                [&] { return fmt::format("{} {} {}", m.id, p.id, laws::describe(mapping)); });
      }
    }
  }
  ROOFCAST_CHECK_LAW(law);
}

}  // namespace roofcast::unit_models_footprint
