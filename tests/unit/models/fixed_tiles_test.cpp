// SPDX-License-Identifier: Apache-2.0
#include "models/operators/fixed_tiles.hpp"

#include "models/operators/gemm.hpp"
#include "tests/catch.hpp"
#include "tests/unit/models/round_machine.hpp"

namespace roofcast::unit_models_fixed_tiles {

using base::NumberFormat;
using models::TileRule;

namespace {

constexpr double kSms = 132.0;

void check(const models::FixedTiles& fixed, std::int64_t rows, std::int64_t columns, double tiles,
           double absent) {
  CHECK(fixed.tiling.rows == rows);
  CHECK(fixed.tiling.columns == columns);
  CHECK(fixed.tiling.tiles == tiles);
  CHECK(fixed.tiling.parts == 1.0);
  CHECK(fixed.absent_rows == absent);
}

}  // namespace

// 7168 columns are 112 tiles of 64, 56 of 128; 1280 are 20 of 64.
TEST_CASE("Tiles by rows grow at 17, 65 and 129 rows, and then come in pairs", "[unit]") {
  const auto tiles = [](std::int64_t m, std::int64_t n) {
    return models::fixed_tiles(TileRule::by_rows, {m, n, 8192}, kSms);
  };
  check(tiles(1, 7168), 16, 64, 112.0, 15.0);
  check(tiles(16, 7168), 16, 64, 112.0, 0.0);
  check(tiles(17, 7168), 64, 64, 112.0, 47.0);
  check(tiles(17, 1280), 16, 64, 4.0 * 20.0, 47.0);
  check(tiles(65, 7168), 64, 128, 2.0 * 56.0, 63.0);
  check(tiles(129, 7168), 128, 128, 2.0 * 56.0, 127.0);
  check(tiles(256, 7168), 128, 128, 2.0 * 56.0, 0.0);
  check(tiles(257, 7168), 128, 128, 4.0 * 56.0, 255.0);
}

// On 132 SMs: two rows of 64 tiles of 16 fill one wave most, and so do one row of 128 tiles of 56 columns, three of 82 of 88 the
// second wave. Below 32 rows the tiles are 128 columns wide: of 16 rows there are two beside each other.
TEST_CASE("Tiles by waves are as narrow as it takes to fill the last wave", "[unit]") {
  const auto tiles = [](std::int64_t m, std::int64_t n) {
    return models::fixed_tiles(TileRule::by_waves, {m, n, 8192}, kSms);
  };
  check(tiles(129, 1024), 128, 16, 2.0 * 64.0, 127.0);
  check(tiles(33, 7168), 64, 56, 128.0, 31.0);
  check(tiles(257, 7168), 128, 88, 3.0 * 82.0, 127.0);
  check(tiles(17, 7168), 16, 128, 2.0 * 56.0, 15.0);
  check(tiles(1, 7168), 16, 128, 56.0, 15.0);
}

TEST_CASE("Only the kernels of a stack that chose so have fixed tiles", "[unit]") {
  using F = NumberFormat;
  CHECK(models::tile_rule("vllm", "wgmma", F::fp8) == TileRule::by_rows);
  CHECK(models::tile_rule("trtllm", "wgmma", F::fp8_block) == TileRule::by_waves);
  CHECK(models::tile_rule("vllm", "wgmma", F::fp8_block) == TileRule::none);
  CHECK(models::tile_rule("trtllm", "wgmma", F::fp8) == TileRule::none);
  CHECK(models::tile_rule("vllm", "tcgen05", F::fp8) == TileRule::none);
  CHECK(models::tile_rule("vllm", "wgmma", F::bf16) == TileRule::none);
}

// 129 rows of 6400 columns: 2 · 50 tiles of 128 × 128 are one wave of 100 SMs, 2·128·128·4096 FLOP each at 10 TFLOP/s:
// 13.4218 us. 127 absent rows of 4096 bytes beside 50 tiles, at three reads of 1 TB/s: 78.0288 us. A batch has other kernels.
TEST_CASE("Absent rows are loaded beside every column of tiles", "[unit]") {
  auto machine = models::round_machine();
  machine.dram = base::BytesPerSecond::from_si(1e18);
  machine.calibration.in_flight_bytes_per_sm = 1e12;
  machine.l2 = base::BytesPerSecond::from_si(1e12);
  machine.calibration.gemm_l2_sharing = 1e9;
  machine.calibration.gemm_absent_row_reads = 3.0;
  const auto compute = [&](std::int64_t m, std::int64_t batch) {
    return models::gemm_cost({m, 6400, 4096, batch, NumberFormat::fp8, NumberFormat::fp8}, machine)
               .compute /
           base::microsecond;
  };
  const double fastest = compute(129, 2);
  machine.tile_rules.fill(TileRule::by_rows);
  CHECK(compute(256, 1) == Approx(13.4218).epsilon(1e-5));
  CHECK(compute(129, 1) == Approx(13.4218 + 78.0288).epsilon(1e-5));
  CHECK(compute(129, 2) == fastest);
}

}  // namespace roofcast::unit_models_fixed_tiles
