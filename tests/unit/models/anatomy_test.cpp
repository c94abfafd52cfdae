// SPDX-License-Identifier: Apache-2.0
#include "models/operators/anatomy.hpp"

#include <algorithm>

#include "models/operators/explained_cost.hpp"
#include "tests/catch.hpp"
#include "tests/unit/models/round_machine.hpp"

namespace roofcast::unit_models_anatomy {

using models::Anatomy;
using models::Cause;
using models::Cost;
using models::round_machine;

namespace {

double us(base::Seconds time) { return time / base::microsecond; }

double us_of(const Anatomy& anatomy, Cause cause) {
  base::Seconds sum;
  for (const models::Part& part : anatomy.parts) {
    sum += part.cause == cause ? part.time : base::Seconds{};
  }
  return us(sum);
}

// A machine whose memory is never waited for.
models::Machine fast_memory() {
  auto machine = round_machine();
  machine.dram = base::BytesPerSecond::from_si(1e18);
  machine.calibration.in_flight_bytes_per_sm = 1e12;
  return machine;
}

}  // namespace

// m=256, n=25600: full waves on 100 SMs in any width. 2·256·25600·4096 FLOP at 1 PFLOP/s: 53.687 us.
TEST_CASE("A GEMM of full waves has all its time in products", "[unit]") {
  Anatomy a;
  const Cost cost = models::cost_of(workloads::Gemm{256, 25600, 4096}, fast_memory(), a);
  CHECK(a.tile_rows == 256.0);
  CHECK(a.blocks * a.tile_columns == 25600.0);
  CHECK(a.waves == a.blocks / 100.0);
  CHECK(a.split == 1.0);
  CHECK(a.busy == 1.0);
  CHECK(us_of(a, Cause::tensor) == Approx(53.6871).epsilon(1e-5));
  CHECK(us_of(a, Cause::padding) == 0.0);
  CHECK(us_of(a, Cause::few_blocks) == 0.0);
  CHECK(us_of(a, Cause::wave_tail) == 0.0);
  CHECK(models::share_of_peak(workloads::Gemm{256, 25600, 4096}, cost, fast_memory()) ==
        Approx(53.6871 / 54.6871).epsilon(1e-4));
}

// Half of the peak at any size: the products take 107.37 us, 53.687 of them beyond the peak.
TEST_CASE("What the best kernels stay below the peak is not the tensor cores", "[unit]") {
  auto machine = fast_memory();
  for (auto& rate : machine.tensor) {
    rate *= 0.5;
  }
  Anatomy a;
  const workloads::Gemm op{256, 25600, 4096};
  const Cost cost = models::cost_of(op, machine, a);
  CHECK(us_of(a, Cause::tensor) == Approx(53.6871).epsilon(1e-5));
  CHECK(us_of(a, Cause::kernel) == Approx(53.6871).epsilon(1e-5));
  const auto shares = models::shares_of(cost, a, machine.calibration.overlap_exponent);
  CHECK(models::verdict_of(shares, models::share_of_peak(op, cost, machine)) == Cause::kernel);
}

// 25 tiles of 16 x 64, the smallest, and no depth to split: a quarter of 100 SMs multiplies.
TEST_CASE("A GEMM of fewer tiles than SMs waits for SMs that have no thread block", "[unit]") {
  auto machine = fast_memory();
  Anatomy a;
  const workloads::Gemm op{16, 25 * 64, 64};
  models::cost_of(op, machine, a);
  CHECK(a.blocks == 25.0);
  CHECK(us_of(a, Cause::few_blocks) > 3.0 * us_of(a, Cause::tensor) * 0.999);
  CHECK(us_of(a, Cause::wave_tail) == 0.0);
  CHECK(a.busy == Approx(a.blocks / machine.sms));
}

// n = 101·64 with 16 rows: 101 tiles on 100 SMs take two waves, of which 0.99 are empty.
TEST_CASE("A last wave of one tile is a tail", "[unit]") {
  auto machine = fast_memory();
  machine.calibration.wave_tail = 1.0;
  Anatomy a;
  models::cost_of(workloads::Gemm{16, 64 * 101, 64}, machine, a);
  CHECK(a.blocks == 101.0);
  CHECK(a.waves == 1.01);
  CHECK(a.busy == Approx(0.505));
  const double products = us_of(a, Cause::tensor);
  CHECK(products == Approx(2.0 * 16 * 64 * 101 * 64 / 1e15 * 1e6));
  base::Seconds lost;
  for (const models::Part& part : a.parts) {
    lost +=
        part.cause == Cause::wave_tail && part.term == &Cost::compute ? part.time : base::Seconds{};
  }
  CHECK(us(lost) == Approx(products * 0.99 / 1.01));
}

// A step of 64 elements of bf16, 128 bytes, takes a latency of 1 us: 64 of them 64 us, where the products of a tile take less.
TEST_CASE("Where steps along k set the pace of a GEMM, products have no share of its time",
          "[unit]") {
  auto machine = fast_memory();
  machine.dram_latency = 1.0 * base::microsecond;
  machine.calibration.gemm_step_trips = 1.0;
  Anatomy a;
  const Cost cost = models::cost_of(workloads::Gemm{64, 6400, 4096}, machine, a);
  CHECK(us_of(a, Cause::serial_depth) == Approx(us(cost.compute)));
  CHECK(us_of(a, Cause::tensor) == 0.0);
  auto twice = machine;
  for (auto& rate : twice.tensor) {
    rate *= 2.0;
  }
  Anatomy same;
  CHECK(models::cost_of(workloads::Gemm{64, 6400, 4096}, twice, same).time == cost.time);
}

// 100 kB in flight of one SM, every microsecond: 0.1 of the 1 TB/s that the memory gives to many.
TEST_CASE("One thread block that loads alone waits for the memory's latency", "[unit]") {
  auto machine = round_machine();
  machine.dram_latency = 1.0 * base::microsecond;
  Anatomy few;
  Anatomy many;
  const models::Cost one =
      models::cost_of(workloads::DecodeAttention{{8, 1, 128, 128, 0, 256}, 1, 1, 64}, machine, few);
  models::cost_of(workloads::DecodeAttention{{8, 1, 128, 128, 0, 256}, 512, 1, 8192}, machine,
                  many);
  CHECK(few.loading < machine.sms);
  CHECK(us_of(few, Cause::latency) > us_of(few, Cause::hbm));
  CHECK(us_of(many, Cause::latency) < 0.01 * us_of(many, Cause::hbm));
  CHECK(one.time > base::Seconds{});
}

// 8 ranks, 1 kB: one-shot 1 + 4α. Forced to two shots: 1 + 8α + 1.75·0.01 us.
TEST_CASE("A collective can be forced to take another of its algorithms", "[unit]") {
  auto machine = round_machine();
  machine.scale_up_domain = 8;
  workloads::Collective op{workloads::CollectiveKind::all_reduce, 1e3, 8, 1,
                           workloads::AllReduceKernels::barriers};
  Anatomy a;
  Cost cost = models::cost_of(op, machine, a);
  REQUIRE(a.plans.size() >= 2);
  CHECK(a.plans.front().algorithm == models::Algorithm::one_shot);
  CHECK(cost.algorithm == models::Algorithm::one_shot);
  CHECK(us_of(a, Cause::hops) == Approx(4.0));
  const models::Plan two = a.plans[1];
  CHECK(two.algorithm == models::Algorithm::two_shot);
  models::force(cost, a, two, machine);
  CHECK(cost.algorithm == models::Algorithm::two_shot);
  CHECK(us(cost.time) == Approx(9.0175));
  CHECK(us_of(a, Cause::hops) == Approx(8.0));
  CHECK(cost.runner_up == models::Algorithm::one_shot);
  CHECK(us(cost.runner_up_time) == Approx(5.07));
}

// B = (c⁴ + d⁴)^¼ of two equal terms: each counts half of B.
TEST_CASE("Two terms that are as long as each other share the time that they overlap in",
          "[unit]") {
  Cost cost;
  cost.compute = cost.dram = base::microsecond;
  models::combine(cost, 4.0);
  Anatomy a;
  a.add(&Cost::compute, Cause::tensor, "products", cost.compute);
  a.add(&Cost::dram, Cause::hbm, "bytes", cost.dram);
  const auto shares = models::shares_of(cost, a, 4.0);
  REQUIRE(shares.size() == 2);
  CHECK(shares[0].share == Approx(0.5));
  CHECK(shares[1].share == Approx(0.5));
  CHECK(models::verdict_of(shares, 0.4) == Cause::hbm);
  CHECK(models::verdict_of(shares, 0.6) == Cause::tensor);
}

// A share is the elasticity of the time: 1 % less of a term makes the kernel share % faster.
TEST_CASE("The share of a cause is what the time gains when the cause gets shorter", "[unit]") {
  const auto combined = [](double compute, double dram) {
    Cost cost;
    cost.launch = base::microsecond;
    cost.compute = compute * base::microsecond;
    cost.dram = dram * base::microsecond;
    models::combine(cost, 4.0);
    return cost;
  };
  const Cost cost = combined(5.0, 7.0);
  Anatomy a;
  a.add(&Cost::launch, Cause::launch, "kernels", cost.launch);
  a.add(&Cost::compute, Cause::tensor, "products", cost.compute);
  a.add(&Cost::dram, Cause::hbm, "bytes", cost.dram);
  constexpr double kStep = 1e-6;
  for (const models::Share& share : models::shares_of(cost, a, 4.0)) {
    const double compute = share.cause == Cause::tensor ? 5.0 * (1.0 - kStep) : 5.0;
    const double dram = share.cause == Cause::hbm ? 7.0 * (1.0 - kStep) : 7.0;
    const double gain = (cost.time - combined(compute, dram).time) / cost.time / kStep;
    if (share.cause != Cause::launch) {
      CHECK(gain == Approx(share.share).epsilon(1e-4));
    }
  }
}

}  // namespace roofcast::unit_models_anatomy
