// SPDX-License-Identifier: Apache-2.0
#include "models/attention.hpp"

#include "tests/catch.hpp"
#include "tests/unit/round_machine.hpp"

using namespace roofcast;
using base::NumberFormat;
using models::round_machine;
using workloads::AttentionHeads;

namespace {
double us(base::Seconds t) { return t / base::microsecond; }

const AttentionHeads kGrouped{8, 1, 128, 128, 0, 256, NumberFormat::bf16};
const AttentionHeads kLatent{128, 1, 576, 512, 0, 576, NumberFormat::bf16};
}  // namespace

// 12 800 queries of 8 heads: 800 CTAs of 128 queries on 100 SMs. A query sees 6400.5 keys on
// average, 50.0039 blocks, and half a block of the diagonal is masked: 50.5039. A block takes
// 2·256·128·128 FLOP / 10 TFLOP/s + 128·128 / 0.1 Texp/s = 0.83886 + 0.16384 = 1.00270 us on one
// SM, so 8 · 50.5039 · 1.00270 = 405.12 us.
TEST_CASE("Prefill of many query blocks fills the chip", "[unit]") {
  const auto cost = models::prefill_attention_cost({kGrouped, 1, 12800, 0}, round_machine());
  CHECK(us(cost.compute) == Approx(405.122).epsilon(1e-4));
  CHECK(us(cost.launch) == Approx(1.0));
  // Q and O 12800·8·256·2 B, K and V 12800·256·2 B at 1 TB/s.
  CHECK(us(cost.dram) == Approx(52.4288 + 6.5536).epsilon(1e-6));
  CHECK(us(cost.time) == Approx(1.0 + 405.122).epsilon(1e-3));
  CHECK(cost.bound == models::Bound::compute);
}

// One head: 100 CTAs, one on each SM; the last one walks all 100 blocks.
TEST_CASE("Prefill of few query blocks waits for the longest", "[unit]") {
  const AttentionHeads one{1, 1, 128, 128, 0, 256, NumberFormat::bf16};
  const auto cost = models::prefill_attention_cost({one, 1, 12800, 0}, round_machine());
  CHECK(us(cost.compute) == Approx(100.270).epsilon(1e-4));
}

// With a window of 1280 a CTA walks 10 blocks and the diagonal, not up to 100: 12 800 queries see
// 1280 − 1280·1279/2/12800 = 1216.05 keys on average.
TEST_CASE("A window shortens prefill to the blocks it covers", "[unit]") {
  AttentionHeads heads = kGrouped;
  heads.window = 1280;
  const auto cost = models::prefill_attention_cost({heads, 1, 12800, 0}, round_machine());
  CHECK(us(cost.compute) == Approx(8.0 * (1216.05 / 128.0 + 0.5) * 1.00270).epsilon(1e-4));
}

TEST_CASE("Start and end of a tile count as so many blocks more", "[unit]") {
  auto machine = round_machine();
  machine.calibration.prefill_overhead_blocks = 4.0;
  const auto cost = models::prefill_attention_cost({kGrouped, 1, 12800, 0}, machine);
  CHECK(us(cost.compute) == Approx(8.0 * 54.5039 * 1.00270).epsilon(1e-4));
}

// 400 sequences on 1000 tokens: cache 400·1000·256·2 B, Q and O 400·8·256·2 B: 206.438 us. The 8
// queries of the head ride in a tile of 16: 2·256·16·400·1000 / 1 PFLOP/s = 3.277 us and
// 8·400·1000 exponentials 0.32 us.
TEST_CASE("Decode of grouped heads reads the cache once, at the memory's rate", "[unit]") {
  const auto cost = models::decode_attention_cost({kGrouped, 400, 1, 1000}, round_machine());
  CHECK(us(cost.dram) == Approx(206.4384).epsilon(1e-6));
  CHECK(us(cost.compute) == Approx(3.2768 + 0.32).epsilon(1e-6));
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

TEST_CASE("Queries of one head ride in rows padded to 16", "[unit]") {
  const auto compute = [](std::int64_t heads, std::int64_t queries) {
    const AttentionHeads h{heads, 1, 128, 128, 0, 256, NumberFormat::bf16};
    auto machine = round_machine();
    machine.exponential = base::FlopsPerSecond::from_si(1e30);
    return models::decode_attention_cost({h, 400, queries, 1000}, machine).compute.si();
  };
  CHECK(compute(1, 1) == Approx(compute(16, 1)));
  CHECK(compute(8, 2) == Approx(compute(16, 1)));
  CHECK(compute(8, 3) == Approx(compute(32, 1)));
}

// One sequence with 256 tokens is one CTA, which keeps 40 kB in flight over 1 us: 40 GB/s for its cache
// of 256·256·2 = 131 072 B. Its queries and outputs, 8·256·2 = 4096 B, move at the full rate.
TEST_CASE("One short sequence cannot fill the memory's pipeline", "[unit]") {
  auto machine = round_machine();
  machine.dram_latency = 1.0 * base::microsecond;
  machine.calibration.in_flight_bytes_per_sm = 40000.0;
  machine.calibration.decode_fill_trips = 16.0;
  const auto cost = models::decode_attention_cost({kGrouped, 1, 1, 256}, machine);
  CHECK(us(cost.dram) == Approx(3.2768 + 4096.0 / machine.dram.si() * 1e6));
  CHECK(us(cost.fill) == Approx(16.0));
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
  CHECK(us(cost().compute) == Approx(3.2768 / 2 + 0.32).epsilon(1e-6));
  machine.peak[fp8] = {};
  CHECK(machine.attention_math(heads.cache) == base::MathType::bf16);
  CHECK(us(cost().compute) == Approx(3.2768 + 0.32).epsilon(1e-6));
  machine.peak[static_cast<std::size_t>(base::MathType::bf16)] = {};
  CHECK(machine.attention_math(heads.cache) == base::MathType::fp16);
  CHECK(us(cost().compute) == Approx(3.2768 + 0.32).epsilon(1e-6));
}
