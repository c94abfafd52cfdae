// SPDX-License-Identifier: Apache-2.0
#include "models/operators/grouped_gemm.hpp"

#include "tests/catch.hpp"
#include "tests/unit/models/round_machine.hpp"

namespace roofcast::unit_models_grouped_gemm {

using models::round_machine;

namespace {

double us(base::Seconds time) { return time.si() * 1e6; }

}  // namespace

// 4 experts of 1024 rows each, [k=4096, n=6400]: useful 2·4096·6400·4096 FLOP = 214.7 us at the
// full rate; half a tile of 128 or 256 rows an expert is lost to the ragged ends.
TEST_CASE("A grouped GEMM of many rows costs its rows and half a tile for each expert", "[unit]") {
  auto machine = round_machine();
  machine.calibration.wave_tail = 0.0;
  machine.calibration.grouped_gemm_efficiency = 0.8;
  machine.dram = base::BytesPerSecond::from_si(1e18);
  machine.calibration.in_flight_bytes_per_sm = 1e12;
  const double useful = 214.748 / 0.8;
  const auto cost = models::grouped_gemm_cost({4096.0, 4.0, 6400, 4096}, machine);
  CHECK(us(cost.compute) > useful);
  CHECK(us(cost.compute) < useful * (1.0 + 0.5 * 256 / 1024.0) + 1e-9);
  CHECK(cost.flop.si() == 2.0 * 4096 * 6400 * 4096);
  const workloads::GroupedGemm even{
      .pairs = 4096.0, .distinct = 4.0, .n = 6400, .k = 4096, .even = true};
  CHECK(us(models::grouped_gemm_cost(even, machine).compute) == Approx(useful).epsilon(1e-5));
}

// One row on each of 8 experts: 8·[4096, 4096] bf16 weights at 1 TB/s = 268.4 us.
TEST_CASE("A grouped GEMM of few rows reads the weights of its experts", "[unit]") {
  const auto cost = models::grouped_gemm_cost({8.0, 8.0, 4096, 4096}, round_machine());
  CHECK(us(cost.dram) == Approx(268.4355 + 0.1311).epsilon(1e-4));
  CHECK(cost.bound == models::Bound::memory);
}

}  // namespace roofcast::unit_models_grouped_gemm
