// SPDX-License-Identifier: Apache-2.0
#include "models/operators/attention.hpp"

#include "models/operators/anatomy.hpp"
#include "tests/catch.hpp"
#include "tests/unit/models/round_machine.hpp"

namespace roofcast::unit_models_attention {

using base::NumberFormat;
using models::round_machine;
using workloads::AttentionHeads;

namespace {
double us(base::Seconds t) { return t / base::microsecond; }

const AttentionHeads kGrouped{8, 1, 128, 128, 0, 256, NumberFormat::bf16};
const AttentionHeads kLatent{128, 1, 576, 512, 0, 576, NumberFormat::bf16};
}  // namespace

// 12 800 queries of 8 heads: 1600 CTAs of 64 queries on 100 SMs. A query sees 6400.5 keys on
// average, 50.0039 blocks, and half a block of the diagonal is masked: 50.5039. A block takes
// 2·256·64·128 FLOP / 10 TFLOP/s + 64·128 / 0.1 Texp/s = 0.41943 + 0.08192 = 0.50135 us on one
// SM, so 16 · 50.5039 · 0.50135 = 405.12 us and 100 blocks of the longest CTA, 50.135 us.
TEST_CASE("Prefill takes the mean load of an SM and the longest query tile", "[unit]") {
  const auto cost = models::prefill_attention_cost({kGrouped, 1, 12800, 0}, round_machine());
  CHECK(us(cost.compute) == Approx(405.122 + 50.135).epsilon(1e-4));
  CHECK(us(cost.launch) == Approx(1.0));
  // Q and O 12800·8·256·2 B, K and V 12800·256·2 B at 1 TB/s.
  CHECK(us(cost.dram) == Approx(52.4288 + 6.5536).epsilon(1e-6));
  CHECK(us(cost.time) == Approx(1.0 + 455.257).epsilon(1e-3));
  CHECK(cost.bound == models::Bound::compute);
}

TEST_CASE("The shorter of products and exponentials hides behind the longer", "[unit]") {
  auto machine = round_machine();
  const auto compute = [&] {
    return us(models::prefill_attention_cost({kGrouped, 1, 12800, 0}, machine).compute);
  };
  machine.calibration.exposed_softmax = 0.25;
  CHECK(compute() == Approx(455.257 * (0.41943 + 0.25 * 0.08192) / 0.50135).epsilon(1e-4));
  machine.exponential = base::FlopsPerSecond::from_si(1e12);  // 0.8192 us a block
  CHECK(compute() == Approx(455.257 * (0.8192 + 0.25 * 0.41943) / 0.50135).epsilon(1e-4));
}

// With a window of 1280 a CTA walks 10 blocks and the diagonal, not up to 100: 12 800 queries see
// 1280 − 1280·1279/2/12800 = 1216.05 keys on average, the last ones 1280 and the diagonal.
TEST_CASE("A window shortens prefill to the blocks it covers", "[unit]") {
  AttentionHeads heads = kGrouped;
  heads.window = 1280;
  const auto cost = models::prefill_attention_cost({heads, 1, 12800, 0}, round_machine());
  CHECK(us(cost.compute) ==
        Approx((16.0 * (1216.05 / 128.0 + 0.5) + 11.0) * 0.50135).epsilon(1e-4));
}

TEST_CASE("Every query tile takes its time to start and end", "[unit]") {
  auto machine = round_machine();
  machine.calibration.prefill_cta_clocks = 1000.0;
  const auto cost = models::prefill_attention_cost({kGrouped, 1, 12800, 0}, machine);
  CHECK(us(cost.compute) == Approx(455.257 + 16.0 + 1.0).epsilon(1e-4));
}

// 400 sequences on 1000 tokens: cache 400·1000·256·2 B, Q and O 400·8·256·2 B: 206.438 us. The 8
// queries of the head ride in a tile of 64: 2·256·64·400·1000 / 1 PFLOP/s = 13.107 us and
// 8·400·1000 exponentials 0.32 us.
TEST_CASE("Decode of grouped heads reads the cache once, at the memory's rate", "[unit]") {
  const auto cost = models::decode_attention_cost({kGrouped, 400, 1, 1000}, round_machine());
  CHECK(us(cost.dram) == Approx(206.4384).epsilon(1e-6));
  CHECK(us(cost.compute) == Approx(13.1072 + 0.32).epsilon(1e-6));
  CHECK(us(cost.launch) == Approx(2.0));  // attention, and the sum over the splits
  CHECK(us(cost.time) == Approx(2.0 + 206.4384).epsilon(1e-4));
  CHECK(cost.bound == models::Bound::memory);
}

// One shared head for 128 queries: 2·(576 + 512)·128·100·10 000 FLOP = 278.53 us, 1.28e8
// exponentials 12.8 us; the memory reads 576 elements a token, 100·10 000·576·2 B, and Q and O
// 100·128·1088·2 B: 1179.85 us.
TEST_CASE("Decode of absorbed MLA reads 576 elements a token for all heads", "[unit]") {
  const auto cost = models::decode_attention_cost({kLatent, 100, 1, 10000}, round_machine());
  CHECK(us(cost.compute) == Approx(278.528 + 12.8).epsilon(1e-6));
  CHECK(us(cost.dram) == Approx(1152.0 + 27.8528).epsilon(1e-6));
  CHECK(cost.flop.si() == 2.0 * 128 * (576 + 512) * 100 * 10000);
}

TEST_CASE("Queries of one head ride in rows padded to 64", "[unit]") {
  const auto compute = [](std::int64_t heads, std::int64_t queries) {
    const AttentionHeads h{heads, 1, 128, 128, 0, 256, NumberFormat::bf16};
    auto machine = round_machine();
    machine.exponential = base::FlopsPerSecond::from_si(1e30);
    return models::decode_attention_cost({h, 400, queries, 1000}, machine).compute.si();
  };
  CHECK(compute(1, 1) == Approx(compute(64, 1)));
  CHECK(compute(8, 8) == Approx(compute(64, 1)));
  CHECK(compute(8, 9) == Approx(compute(128, 1)));
}

// One sequence with 256 tokens is one CTA, which keeps 40 kB in flight over 1 us: 40 GB/s for its cache
// of 256·256·2 = 131 072 B. Its queries and outputs, 8·256·2 = 4096 B, move at the full rate.
TEST_CASE("One short sequence cannot fill the memory's pipeline", "[unit]") {
  auto machine = round_machine();
  machine.dram_latency = 1.0 * base::microsecond;
  machine.calibration.in_flight_bytes_per_sm = 40000.0;
  machine.calibration.attention_fill_trips = 16.0;
  const auto cost = models::decode_attention_cost({kGrouped, 1, 1, 256}, machine);
  CHECK(us(cost.dram) == Approx(3.2768 + 4096.0 / machine.dram.si() * 1e6));
  CHECK(us(cost.fill) == Approx(16.0));
}

// One sequence of 12 800 tokens in parts of 256 keys: 50 CTAs, half of the SMs, so products of
// 2·256·64·12800 FLOP / 1 PFLOP/s = 0.41943 us and 8·12800 exponentials, 0.01024 us,
// take twice that; a CTA of 256 elements a row takes one and a half times its clocks.
TEST_CASE("A context is split until every SM has two parts of it", "[unit]") {
  auto machine = round_machine();
  machine.calibration.decode_cta_clocks = 1000.0;
  const auto compute = [&](std::int64_t sequences, std::int64_t context) {
    return us(models::decode_attention_cost({kGrouped, sequences, 1, context}, machine).compute);
  };
  CHECK(compute(1, 12800) == Approx(2.0 * (0.41943 + 0.01024) + 1.5).epsilon(1e-4));
  CHECK(compute(1, 1280000) == Approx(41.943 + 1.024 + 3.0).epsilon(1e-4));
  CHECK(compute(400, 1000) == Approx(13.1072 + 0.32 + 6.0).epsilon(1e-4));
}

// 64 queries of 128 elements are 16 KiB, two blocks of 16 keys and values another 16.
TEST_CASE("Queries take shared memory where tensor instructions read them from there", "[unit]") {
  auto machine = round_machine();
  const auto compute = [&] {
    return us(models::prefill_attention_cost({kGrouped, 1, 12800, 0}, machine).compute);
  };
  const double roomy = compute();
  machine.tile_room.shared = 28.0 * 1024.0;
  CHECK(compute() == roomy);  // they stay in registers
  machine.tile_room.feeds_instructions = true;
  CHECK(compute() == Approx(2.0 * 405.122 + 50.135).epsilon(1e-4));  // 32 queries a CTA
  machine.tile_room.shared = 32.0 * 1024.0;
  CHECK(compute() == roomy);
}

// Queries of two are 32 KiB. One alone ends as late as two of half its length.
TEST_CASE("An SM runs one part of a context where it has no room for the queries of two",
          "[unit]") {
  auto machine = round_machine();
  machine.calibration.decode_cta_clocks = 1000.0;
  machine.tile_room.feeds_instructions = true;
  const auto runs = [&](double kib, double at_once) {
    machine.tile_room.shared = kib * 1024.0;
    models::Anatomy anatomy;
    const auto cost = models::decode_attention_cost({kGrouped, 1, 1, 1280000}, machine, &anatomy);
    CHECK(anatomy.blocks_per_sm == at_once);
    CHECK(anatomy.split == 100.0 * at_once);
    CHECK(us(cost.compute) == Approx(41.943 + 1.024 + 3.0).epsilon(1e-4));
  };
  runs(48.0, 2.0);
  runs(47.0, 1.0);
}

// 128 queries are two tiles, so two CTAs: products of 2.78528 us and exponentials of 0.128 us on 2 of 100 SMs. Half the
// heads are one CTA with half of them. Up to 39 parts of 256 keys would take 10 000/256 times less.
TEST_CASE("A kernel that does not split latents has a CTA for each tile of heads", "[unit]") {
  auto machine = round_machine();
  const auto compute = [&](std::int64_t heads) {
    AttentionHeads h = kLatent;
    h.query_heads = heads;
    return us(models::decode_attention_cost({h, 1, 1, 10000}, machine).compute);
  };
  machine.calibration.decode_latent_splits = 1.0;
  CHECK(compute(128) == Approx((2.78528 + 0.128) / 0.02).epsilon(1e-6));
  CHECK(compute(64) == Approx(compute(128)).epsilon(1e-6));
  machine.calibration.decode_latent_splits = 128.0;
  CHECK(compute(128) == Approx((2.78528 + 0.128) / 0.02 * 256.0 / 10000.0).epsilon(1e-6));
}

// 64 MB of L2 keep 42.24 MB of a repeated step; three bytes are lost for each one beyond.
TEST_CASE("A repeated step finds in the L2 what the step before left there", "[unit]") {
  const auto cost = [](std::int64_t context, bool repeated) {
    return models::decode_attention_cost({kGrouped, 1, 1, context, repeated}, round_machine());
  };
  CHECK(us(cost(80000, true).dram) == 0.0);  // 40.96 MB
  CHECK(us(cost(80000, false).dram) == Approx(40.96 + 0.004096));
  CHECK(us(cost(90000, true).dram) ==
        Approx(46.084096 - (42.24 - 3.0 * (46.084096 - 42.24))).epsilon(1e-6));
  CHECK(cost(120000, true).dram.si() == cost(120000, false).dram.si());
}

TEST_CASE("An fp8 cache is half the bytes, multiplied in fp8 only where the chip can", "[unit]") {
  AttentionHeads heads = kGrouped;
  heads.cache = NumberFormat::fp8;
  auto machine = round_machine();
  const auto fp8 = static_cast<std::size_t>(base::MathType::fp8);
  const auto cost = [&] { return models::decode_attention_cost({heads, 400, 1, 1000}, machine); };
  CHECK(us(cost().dram) == Approx(102.4 + 1.6384).epsilon(1e-6));
  machine.peak[fp8] = base::FlopsPerSecond::from_si(2e15);
  CHECK(machine.attention_math(heads.cache) == base::MathType::fp8);
  CHECK(us(cost().compute) == Approx(13.1072 / 2 + 0.32).epsilon(1e-6));
  machine.peak[fp8] = {};
  CHECK(machine.attention_math(heads.cache) == base::MathType::bf16);
  CHECK(us(cost().compute) == Approx(13.1072 + 0.32).epsilon(1e-6));
  machine.peak[static_cast<std::size_t>(base::MathType::bf16)] = {};
  CHECK(machine.attention_math(heads.cache) == base::MathType::fp16);
  CHECK(us(cost().compute) == Approx(13.1072 + 0.32).epsilon(1e-6));
}

}  // namespace roofcast::unit_models_attention
