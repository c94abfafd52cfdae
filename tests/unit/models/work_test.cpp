// SPDX-License-Identifier: Apache-2.0
#include "models/work.hpp"

#include <algorithm>

#include "tests/catch.hpp"

namespace roofcast::unit_models_work {

using base::NumberFormat;
using workloads::CollectiveKind;

// m=128, n=512, k=1024: 2·128·512·1024 FLOP; 131 072 activations, 524 288 weights, 65 536 outputs
// (bf16). Scales: fp8_block 4 B a 16 384 elements, int4 2 B a 128, mxfp4 1 B a 32, nvfp4 1 B a 16.
TEST_CASE("A GEMM reads both operands with their scales and writes bf16", "[unit]") {
  using F = NumberFormat;
  struct Row {
    F activations, weights;
    double operands;
  };
  const Row rows[] = {
      {F::fp32, F::fp32, 4.0 * 131072 + 4.0 * 524288},
      {F::tf32, F::tf32, 4.0 * 131072 + 4.0 * 524288},
      {F::bf16, F::bf16, 2.0 * 131072 + 2.0 * 524288},
      {F::fp16, F::fp16, 2.0 * 131072 + 2.0 * 524288},
      {F::fp8, F::fp8, 131072.0 + 524288.0},
      {F::int8, F::int8, 131072.0 + 524288.0},
      {F::fp8_block, F::fp8_block, 131072.0 + 8 * 4 + 524288.0 + 32 * 4},
      {F::bf16, F::int4, 2.0 * 131072 + 524288 / 2 + 4096 * 2},
      {F::mxfp4, F::mxfp4, 131072 / 2 + 4096 * 1 + 524288 / 2 + 16384 * 1},
      {F::nvfp4, F::nvfp4, 131072 / 2 + 8192 * 1 + 524288 / 2 + 32768 * 1},
      {F::fp8, F::mxfp4, 131072.0 + 524288 / 2 + 16384 * 1},
  };
  for (const Row& row : rows) {
    INFO(base::name(row.activations) << " x " << base::name(row.weights));
    const auto one = models::gemm_work({128, 512, 1024, 1, row.activations, row.weights});
    CHECK(one.flop.si() == 134'217'728.0);
    CHECK(one.bytes.si() == row.operands + 2.0 * 65536);
    CHECK(one.message.si() == 0.0);
    const auto three = models::gemm_work({128, 512, 1024, 3, row.activations, row.weights});
    CHECK(three.flop.si() == 3.0 * one.flop.si());
    CHECK(three.bytes.si() == 3.0 * one.bytes.si());
  }
}

// 24 rows on 3 experts of [k=64, n=32] in fp8: 2·24·32·64 FLOP; 3·2048 weights, 24·64 rows in,
// 24·32 rows out in bf16.
TEST_CASE("A grouped GEMM reads the weights of the experts that are hit, once", "[unit]") {
  const auto work =
      models::grouped_gemm_work({24.0, 3.0, 32, 64, NumberFormat::fp8, NumberFormat::fp8});
  CHECK(work.flop.si() == 98'304.0);
  CHECK(work.bytes.si() == 6144.0 + 1536.0 + 1536.0);
}

double brute_pairs(std::int64_t n, std::int64_t cached, std::int64_t window) {
  std::int64_t pairs = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t keys = cached + i + 1;
    pairs += window > 0 ? std::min(keys, window) : keys;
  }
  return static_cast<double>(pairs);
}

TEST_CASE("Causal pairs equal the count query by query, with prefix and window", "[unit]") {
  for (const std::int64_t n : {1, 2, 3, 7, 64, 100, 129}) {
    for (const std::int64_t cached : {0, 1, 5, 63, 64, 65, 200}) {
      for (const std::int64_t window : {0, 1, 2, 8, 64, 65, 128, 164, 165, 1000}) {
        INFO(n << " new, " << cached << " cached, window " << window);
        CHECK(models::causal_pairs(n, cached, window) == brute_pairs(n, cached, window));
      }
    }
  }
}

// Llama-3.1-70B on 8 ranks: 8 query heads, 1 KV head of 128.
//   prefill of 2 × 1000 tokens after 500: pairs = 2·(1000·500 + 1000·1001/2) = 2 001 000;
//   FLOP = 2·(128+128)·8·pairs; bytes = Q and O 2·1000·8·256·2 + K and V 2·1500·256·2
//   decode of 3 sequences on 1500: FLOP = 2·256·8·3·1500; bytes = 3·8·256·2 + 3·1500·256·2
TEST_CASE("Grouped-query attention multiplies every head and reads each KV head once", "[unit]") {
  const workloads::AttentionHeads heads{8, 1, 128, 128, 0, 256, NumberFormat::bf16};
  const auto prefill = models::prefill_attention_work({heads, 2, 1000, 500});
  CHECK(prefill.flop.si() == 2.0 * 256 * 8 * 2'001'000);
  CHECK(prefill.bytes.si() == 8'192'000.0 + 1'536'000.0);
  const auto decode = models::decode_attention_work({heads, 3, 1, 1500});
  CHECK(decode.flop.si() == 2.0 * 256 * 8 * 3 * 1500);
  CHECK(decode.bytes.si() == 12'288.0 + 2'304'000.0);
  // Two draft tokens beside the real one triple the queries, not the cache.
  const auto draft = models::decode_attention_work({heads, 3, 3, 1500});
  CHECK(draft.flop.si() == 3.0 * decode.flop.si());
  CHECK(draft.bytes.si() == 3.0 * 12'288.0 + 2'304'000.0);
}

TEST_CASE("A window limits the keys a query sees and the cache it reads", "[unit]") {
  const workloads::AttentionHeads heads{8, 1, 64, 64, 128, 128, NumberFormat::fp8};
  const auto decode = models::decode_attention_work({heads, 1, 1, 5000});
  CHECK(decode.flop.si() == 2.0 * 128 * 8 * 128);
  CHECK(decode.bytes.si() == 8.0 * 128 * 2 + 128.0 * 128);
  // Queries 0…99 after 5000: the first sees back to key 4873, so 100 + 127 keys are read.
  const auto prefill = models::prefill_attention_work({heads, 1, 100, 5000});
  CHECK(prefill.flop.si() == 2.0 * 128 * 8 * 100 * 128);
  CHECK(prefill.bytes.si() == 100.0 * 8 * 128 * 2 + 227.0 * 128);
  // Shorter than the window: as without one.
  const auto brief = models::decode_attention_work({heads, 1, 1, 100});
  CHECK(brief.flop.si() == 2.0 * 128 * 8 * 100);
}

TEST_CASE("Messages are what a rank must send to the others", "[unit]") {
  const auto sent = [](CollectiveKind kind, std::int64_t ranks) {
    return models::collective_work({kind, 800.0, ranks, 1}).message.si();
  };
  CHECK(sent(CollectiveKind::all_reduce, 8) == 2.0 * 700.0);
  CHECK(sent(CollectiveKind::all_gather, 8) == 700.0);
  CHECK(sent(CollectiveKind::reduce_scatter, 8) == 700.0);
  CHECK(sent(CollectiveKind::all_to_all, 8) == 700.0);
  CHECK(sent(CollectiveKind::send_receive, 2) == 800.0);
  CHECK(sent(CollectiveKind::broadcast, 8) == 800.0);  // the root's
  for (const auto kind :
       {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
        CollectiveKind::all_to_all, CollectiveKind::broadcast}) {
    CHECK(sent(kind, 1) == 0.0);
  }
}

// 10 tokens, 80 rows of 64 in fp8, 16 experts: fp32 scores, rows permuted (read and written), and
// combined from bf16 into the tokens.
TEST_CASE("Expert routing moves the scores, and every row twice", "[unit]") {
  const auto work = models::expert_routing_work({10, 80.0, 64, 16, 8, NumberFormat::fp8});
  CHECK(work.bytes.si() == 10 * 16 * 4.0 + 2 * 80 * 64.0 + 80 * 64 * 2.0 + 10 * 64 * 2.0);
}

}  // namespace roofcast::unit_models_work
