// SPDX-License-Identifier: Apache-2.0
#include "models/operators/gemm.hpp"

#include "models/operators/anatomy.hpp"
#include "models/operators/tiling.hpp"
#include "tests/catch.hpp"
#include "tests/unit/models/round_machine.hpp"

namespace roofcast::unit_models_gemm {

using base::NumberFormat;
using models::gemm_cost;
using models::round_machine;

namespace {
double us(base::Seconds t) { return t / base::microsecond; }
}  // namespace

// m=256, n=25600: 100 tiles of 256×256, one on each SM. Each takes 2·256·256·4096 FLOP at
// 10 TFLOP/s: 53.687 us. The memory (225 MB at 1 TB/s) is taken out by raising its rate.
TEST_CASE("A GEMM of one full wave runs at the tensor rate", "[unit]") {
  auto machine = round_machine();
  machine.dram = base::BytesPerSecond::from_si(1e18);
  machine.calibration.in_flight_bytes_per_sm = 1e12;
  const auto cost = gemm_cost({256, 25600, 4096}, machine);
  CHECK(us(cost.compute) == Approx(53.6871).epsilon(1e-5));
  CHECK(us(cost.time) == Approx(1.0 + 53.6871).epsilon(1e-4));
  CHECK(cost.bound == models::Bound::compute);
}

// The fastest tiling, forced, is the same; another one that is looked at takes no less.
TEST_CASE("A GEMM with a forced tile is as fast as the tile is", "[unit]") {
  const auto machine = round_machine();
  for (const workloads::Gemm& op :
       {workloads::Gemm{256, 25600, 4096}, workloads::Gemm{1, 8192, 8192},
        workloads::Gemm{64, 1024, 16384}, workloads::Gemm{5000, 5000, 5000}}) {
    models::Anatomy fastest;
    const auto free = gemm_cost(op, machine, &fastest);
    models::Tiling cut;
    cut.rows = static_cast<std::int64_t>(fastest.tile_rows);
    cut.columns = static_cast<std::int64_t>(fastest.tile_columns);
    cut.parts = fastest.split;
    CHECK(models::fault_of(op, cut, machine).empty());
    CHECK(gemm_cost(op, machine, nullptr, &cut).time == free.time);
    for (const std::int64_t rows : models::kTokenTiles) {
      if (rows < 128 && 4 * rows < op.m) {
        continue;  // not looked at
      }
      for (const std::int64_t columns : models::kWeightTiles) {
        cut = {rows, columns, 0.0, 1.0};
        models::Anatomy forced;
        CHECK(us(gemm_cost(op, machine, &forced, &cut).time) >= (1.0 - 1e-9) * us(free.time));
        CHECK(forced.tile_rows == static_cast<double>(rows));
        CHECK(forced.sums_bytes == 4.0 * static_cast<double>(rows * columns));
      }
    }
  }
  const auto fault = [&](const workloads::Gemm& op, std::int64_t rows, double parts) {
    return models::fault_of(op, {rows, 128, 0.0, parts}, machine);
  };
  CHECK(fault({64, 64, 4096}, 100, 1.0) ==
        "a tile has 16, 24, 32, 48, 64, 128, 256 rows and 64, "
        "128, 256 columns");
  CHECK(!fault({64, 64, 4096}, 64, 3.0).empty());
  CHECK(!fault({64, 64, 512}, 64, 4.0).empty());
  CHECK(fault({64, 64, 4096}, 64, 4.0).empty());
}

// m=1, n=k=8192: 134 217 728 B of weights, 32 768 B of vectors, at 1 TB/s. The tile of 16 rows
// multiplies 16 times the useful work: 2·16·8192·8192 FLOP / 1 PFLOP/s = 2.1 us, hidden.
TEST_CASE("A GEMM of one row runs at the memory's rate", "[unit]") {
  const auto cost = gemm_cost({1, 8192, 8192}, round_machine());
  CHECK(us(cost.dram) == Approx(134.2505).epsilon(1e-5));
  CHECK(us(cost.time) == Approx(1.0 + 134.2505).epsilon(1e-3));
  CHECK(cost.bound == models::Bound::memory);
}

TEST_CASE("Rows are padded to 16 and depth to 64", "[unit]") {
  auto machine = round_machine();
  machine.dram = base::BytesPerSecond::from_si(1e18);
  machine.calibration.in_flight_bytes_per_sm = 1e12;
  const auto compute = [&](std::int64_t m, std::int64_t k) {
    return gemm_cost({m, 6400, k}, machine).compute.si();
  };
  CHECK(compute(1, 64) == compute(16, 64));
  CHECK(compute(17, 64) > compute(16, 64));
  CHECK(compute(16, 1) == compute(16, 64));
  CHECK(compute(16, 65) == compute(16, 128));
}

// 101 tiles on 100 SMs: with plain tiles the last one costs a whole wave more, with stream-K
// nothing. 16 rows and 64·101 columns leave no smaller tile.
TEST_CASE("A partial last wave costs a whole one with plain tiles and its share with stream-K",
          "[unit]") {
  auto machine = round_machine();
  machine.dram = base::BytesPerSecond::from_si(1e18);
  machine.calibration.in_flight_bytes_per_sm = 1e12;
  const auto compute = [&](double tail, std::int64_t tiles) {
    machine.calibration.wave_tail = tail;
    return gemm_cost({16, 64 * tiles, 64}, machine).compute.si();
  };
  const double wave = compute(1.0, 100);
  CHECK(compute(1.0, 101) == Approx(2.0 * wave));
  CHECK(compute(0.5, 101) == Approx(1.505 * wave));
  CHECK(compute(0.0, 101) == Approx(1.01 * wave));
  CHECK(compute(1.0, 200) == Approx(2.0 * wave));
  CHECK(compute(1.0, 50) == Approx(wave));  // half the SMs have nothing to do
}

// One CTA keeps 40 000 B in flight over 1 us: 40 GB/s, whatever the memory can do. 16·64 rows,
// 64·64 weights and 16·64 outputs in bf16 are 12 288 B.
TEST_CASE("A single tile is held back by the bytes it keeps in flight", "[unit]") {
  auto machine = round_machine();
  machine.dram_latency = 1.0 * base::microsecond;
  machine.calibration.in_flight_bytes_per_sm = 40000.0;
  machine.calibration.gemm_fill_trips = 4.0;
  const auto cost = gemm_cost({16, 64, 64}, machine);
  CHECK(us(cost.dram) == Approx(0.3072));
  CHECK(us(cost.fill) == Approx(4.0));
  CHECK(us(cost.time) == Approx(1.0 + 4.0 + 0.3072).epsilon(1e-3));
  CHECK(cost.bound == models::Bound::latency);
}

TEST_CASE("Each format multiplies at its own rate, and weight-only formats at bf16's", "[unit]") {
  auto machine = round_machine();
  machine.dram = base::BytesPerSecond::from_si(1e18);
  machine.calibration.in_flight_bytes_per_sm = 1e12;
  const auto set = [&](base::MathType type, double rate) {
    machine.tensor[static_cast<std::size_t>(type)] = base::FlopsPerSecond::from_si(rate);
  };
  set(base::MathType::fp8, 2e15);
  set(base::MathType::fp4, 4e15);
  const auto compute = [&](NumberFormat a, NumberFormat w) {
    return us(gemm_cost({256, 25600, 4096, 1, a, w}, machine).compute);
  };
  using F = NumberFormat;
  CHECK(compute(F::bf16, F::bf16) == Approx(53.6871).epsilon(1e-5));
  CHECK(compute(F::fp8, F::fp8) == Approx(53.6871 / 2).epsilon(1e-5));
  CHECK(compute(F::fp8_block, F::fp8_block) == Approx(53.6871 / 2).epsilon(1e-5));
  CHECK(compute(F::nvfp4, F::nvfp4) == Approx(53.6871 / 4).epsilon(1e-5));
  CHECK(compute(F::bf16, F::int4) == Approx(53.6871).epsilon(1e-5));
  CHECK(compute(F::fp8, F::mxfp4) == Approx(53.6871 / 2).epsilon(1e-5));
}

// One wave of 100 tiles of 256 × 256, 4096 deep: 53.6871 us of products. An SM of 1 GHz that widens 64 weights of 4 bits a
// clock takes 256·4096/64 ns = 16.384 us more, of 8 bits half of that.
TEST_CASE("An SM widens weights that are narrower than the activations", "[unit]") {
  auto machine = round_machine();
  machine.dram = base::BytesPerSecond::from_si(1e18);
  machine.calibration.in_flight_bytes_per_sm = 1e12;
  machine.calibration.gemm_widened_per_sm_clock = 64.0;
  using F = NumberFormat;
  const auto compute = [&](F a, F w) {
    return us(gemm_cost({256, 25600, 4096, 1, a, w}, machine).compute);
  };
  CHECK(compute(F::bf16, F::int4) == Approx(53.6871 + 16.384).epsilon(1e-5));
  CHECK(compute(F::bf16, F::int8) == Approx(53.6871 + 8.192).epsilon(1e-5));
  CHECK(compute(F::fp8, F::mxfp4) == Approx(53.6871 + 16.384).epsilon(1e-5));
  CHECK(compute(F::bf16, F::bf16) == Approx(53.6871).epsilon(1e-5));
  CHECK(compute(F::fp8, F::fp8_block) == Approx(53.6871).epsilon(1e-5));
}

// A twofold peak at three quarters: 1.5 times as fast, with half of the products and 9 of 16 bits a weight.
TEST_CASE("Sparse weights have half of the products and of the bytes, and the places of the rest",
          "[unit]") {
  auto machine = round_machine();
  machine.sparsity = 2.0;
  machine.calibration.gemm_sparse_efficiency = 0.75;
  const workloads::Gemm dense{256, 25600, 4096};
  workloads::Gemm sparse = dense;
  sparse.storage.sparse = true;
  CHECK(us(gemm_cost(sparse, machine).compute) == Approx(53.6871 / 1.5).epsilon(1e-5));
  CHECK(gemm_cost(sparse, machine).flop.si() == gemm_cost(dense, machine).flop.si() / 2.0);
  CHECK(gemm_cost(dense, machine).dram_bytes.si() - gemm_cost(sparse, machine).dram_bytes.si() ==
        Approx(25600.0 * 4096.0 * 7.0 / 8.0));
  machine.calibration.gemm_sparse_efficiency = 0.3;  // no slower than dense
  CHECK(us(gemm_cost(sparse, machine).compute) == Approx(53.6871).epsilon(1e-5));
}

// 16 rows × 64 columns × 65 536 deep is one tile, 100 times slower than the chip; cut along the
// depth it uses more SMs.
TEST_CASE("A deep and narrow GEMM is split along its depth", "[unit]") {
  auto machine = round_machine();
  machine.dram = base::BytesPerSecond::from_si(1e18);
  machine.calibration.in_flight_bytes_per_sm = 1e12;
  const double one_tile = 2.0 * 16 * 64 * 65536 / 1e13;
  const auto cost = gemm_cost({16, 64, 65536}, machine);
  CHECK(cost.compute.si() < one_tile / 8.0);
  CHECK(cost.compute.si() >= one_tile / 100.0);
}

// 16×64 outputs are one tile: 2·16·64·65 536 FLOP at 10 TFLOP/s.
TEST_CASE("A format with block scales is never split along the depth", "[unit]") {
  auto machine = round_machine();
  machine.dram = base::BytesPerSecond::from_si(1e18);
  machine.calibration.in_flight_bytes_per_sm = 1e12;
  const double one_tile = 2.0 * 16 * 64 * 65536 / 1e13;
  const auto format = NumberFormat::fp8_block;
  CHECK(gemm_cost({16, 64, 65536, 1, format, format}, machine).compute.si() == Approx(one_tile));
}

// One tile of 16×64 takes 13.4 us; in 16 parts 0.84 us, and 3 trips of 1 us.
TEST_CASE("Adding up a split depth takes the trips of a second kernel", "[unit]") {
  auto machine = round_machine();
  machine.dram = base::BytesPerSecond::from_si(1e18);
  machine.calibration.in_flight_bytes_per_sm = 1e12;
  machine.dram_latency = 1.0 * base::microsecond;
  machine.calibration.gemm_split_trips = 3.0;
  const auto cost = gemm_cost({16, 64, 65536}, machine);
  CHECK(us(cost.compute) == Approx(13.4218 / 16).epsilon(1e-4));
  CHECK(us(cost.fill) == Approx(3.0));
  machine.calibration.gemm_split_trips = 20.0;  // no longer worth it
  CHECK(us(gemm_cost({16, 64, 65536}, machine).compute) == Approx(13.4218).epsilon(1e-4));
}

// 200 tiles of 16×64 on 100 SMs: two waves, so one change of tiles. 4096 deep in fp8 are 32 steps of 128
// bytes. A tile of output is 2048 B, at 1 TB/s over 100 SMs 0.2048 us a wave.
TEST_CASE("Waves, steps of depth and epilogues cost their trips and bytes", "[unit]") {
  auto machine = round_machine();
  machine.dram = base::BytesPerSecond::from_si(1e18);
  machine.calibration.in_flight_bytes_per_sm = 1e12;
  machine.dram_latency = 1.0 * base::microsecond;
  const auto cost = [&] {
    return gemm_cost({16, 64 * 200, 4096, 1, NumberFormat::fp8_block, NumberFormat::fp8_block},
                     machine);
  };
  const auto plain = cost();
  machine.calibration.gemm_step_trips = 0.5;
  CHECK(us(cost().compute) == Approx(32 * 0.5).epsilon(1e-3));  // 100 tiles of twice the width
  CHECK(us(cost().compute) > us(plain.compute));
  machine.calibration.gemm_step_trips = 0.0;
  machine.l2 = base::BytesPerSecond::from_si(1e12);
  machine.calibration.gemm_l2_sharing = 1e9;
  machine.calibration.gemm_epilogue_passes = 1.0;
  CHECK(us(cost().fill) == Approx(2 * 0.2048).epsilon(1e-6));
}

// 8 MB of weights in 5 copies are 40 MB of the 64 MB L2; 16 MB are 80 MB of it.
TEST_CASE("A benchmark's loop reads memory only for what its L2 does not hold", "[unit]") {
  const auto bf16 = NumberFormat::bf16;
  const auto dram = [&](std::int64_t n, std::int64_t copies) {
    return gemm_cost({1, n, 4096, 1, bf16, bf16, copies}, round_machine()).dram;
  };
  CHECK(dram(1024, 5).si() == 0.0);
  CHECK(dram(1024, 0) > base::Seconds{});
  CHECK(dram(2048, 5) == dram(2048, 0));
}

TEST_CASE("A batch of GEMMs fills the chip like one of as many tiles", "[unit]") {
  const auto batched = gemm_cost({16, 64, 512, 100}, round_machine());
  const auto wide = gemm_cost({16, 6400, 512, 1}, round_machine());
  CHECK(batched.compute.si() == Approx(wide.compute.si()));
}

}  // namespace roofcast::unit_models_gemm
