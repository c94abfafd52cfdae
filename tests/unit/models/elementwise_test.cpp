// SPDX-License-Identifier: Apache-2.0
#include "models/operators/elementwise.hpp"

#include <cmath>

#include "models/operators/table_lookup.hpp"
#include "models/work.hpp"
#include "tests/catch.hpp"
#include "tests/unit/models/round_machine.hpp"

namespace roofcast::unit_models_elementwise {

using models::round_machine;

namespace {
double us(base::Seconds t) { return t / base::microsecond; }
}  // namespace

// 100 MB in and 100 MB out at 1 TB/s.
TEST_CASE("A large elementwise kernel runs at the memory's rate", "[unit]") {
  const auto cost = models::elementwise_cost({1e8, 1e8, 1e8}, round_machine());
  CHECK(us(cost.dram) == Approx(200.0));
  CHECK(us(cost.time) == Approx(201.0));
  CHECK(cost.dram_bytes.si() == 2e8);
  CHECK(cost.bound == models::Bound::memory);
}

// Half of the 64 MB L2 is 32 MB. Of 48 MB half is still there: 24 MB at 1 TB/s, and as many at 4 TB/s.
TEST_CASE("What fits in half the L2 moves at the L2's rate and costs the memory nothing",
          "[unit]") {
  auto machine = round_machine();
  machine.l2 = base::BytesPerSecond::from_si(4e12);
  const auto inside = models::elementwise_cost({16e6, 16e6, 0.0}, machine);
  CHECK(us(inside.time) == Approx(1.0 + 8.0));
  CHECK(inside.dram_bytes.si() == 0.0);
  CHECK(inside.dram.si() == 0.0);
  CHECK(inside.bound == models::Bound::l2);
  const auto partly = models::elementwise_cost({24e6, 24e6, 0.0}, machine);
  CHECK(us(partly.dram) == Approx(24.0));
  CHECK(us(partly.l2) == Approx(6.0));
  const auto outside = models::elementwise_cost({32e6, 32e6, 0.0}, machine);
  CHECK(us(outside.time) == Approx(1.0 + 64.0));
  CHECK(outside.l2.si() == 0.0);
}

// Two thirds of 64 MB are 42.7 MB, four thirds 85.3 MB; of 64 MB half is left.
TEST_CASE(
    "A repeated kernel finds all it touched up to two thirds of the L2, and nothing from four "
    "thirds",
    "[unit]") {
  auto machine = round_machine();
  machine.l2 = base::BytesPerSecond::from_si(4e12);
  const auto repeated = [&](double touched) {
    workloads::Elementwise op{40e6, 40e6, 0.0};
    op.repeated_bytes = touched;
    return models::elementwise_cost(op, machine);
  };
  CHECK(us(repeated(40e6).l2) == Approx(20.0));  // written over what was read
  CHECK(repeated(40e6).dram_bytes.si() == 0.0);
  CHECK(us(repeated(64e6).l2) == Approx(10.0));
  CHECK(us(repeated(64e6).dram) == Approx(40.0));
  CHECK(us(repeated(86e6).dram) == Approx(80.0));
  CHECK(repeated(86e6).l2.si() == 0.0);
  machine.l2_capacity = {};
  CHECK(models::repeated_share(1.0 * base::byte, machine) == 0.0);
}

TEST_CASE("What a kernel takes does not jump where its bytes or tables leave the L2", "[unit]") {
  auto machine = round_machine();
  machine.l2 = base::BytesPerSecond::from_si(4e12);
  double before[3] = {0.0, 0.0, 0.0};
  for (double mb = 20.0; mb < 100.0; mb *= 1.001) {
    workloads::TableLookup lookup;
    lookup.width = 128;
    lookup.rows = 1e6;
    lookup.distinct = mb * 1e6 / base::byte_count(128.0, lookup.format);
    workloads::Elementwise again{mb * 5e5, mb * 5e5, 0.0};
    again.repeated_bytes = mb * 1e6;
    const double now[3] = {us(models::elementwise_cost({mb * 5e5, mb * 5e5, 0.0}, machine).time),
                           us(models::elementwise_cost(again, machine).time),
                           us(models::table_lookup_cost(lookup, machine).time)};
    INFO(mb << " MB");
    for (int i = 0; i < 3; ++i) {
      CHECK((before[i] == 0.0 || std::abs(now[i] / before[i] - 1.0) < 0.01));
      before[i] = now[i];
    }
  }
}

// 32 threads of 4 B: 128 B are 4 sectors of 32 B. Two apart they lie in 252 B, which are 8 sectors; 8 apart each has a
// sector of its own. 16 B two apart: 16 · 62 + 16 B.
TEST_CASE("Strided reads move whole sectors of which they use a part", "[unit]") {
  const auto op = [](std::int64_t stride, std::int64_t bytes) {
    workloads::Elementwise e{1e8, 1e8, 0.0};
    e.stride = stride;
    e.element_bytes = bytes;
    return e;
  };
  CHECK(models::sectors_of_request(op(1, 4)) == 4.0);
  CHECK(models::sectors_of_request(op(2, 4)) == 8.0);
  CHECK(models::sectors_of_request(op(8, 4)) == 32.0);
  CHECK(models::sectors_of_request(op(100, 4)) == 32.0);
  CHECK(models::sectors_of_request(op(2, 16)) == 32.0);
  const auto moved = [&](std::int64_t stride, std::int64_t bytes) {
    return models::elementwise_cost(op(stride, bytes), round_machine()).dram_bytes.si();
  };
  CHECK(moved(1, 4) == 2e8);
  CHECK(moved(2, 4) == 3e8);
  CHECK(moved(8, 4) == 9e8);
  CHECK(moved(100, 4) == 9e8);
}

TEST_CASE("A kernel with nothing to do still takes its launch and its memory trips", "[unit]") {
  auto machine = round_machine();
  machine.dram_latency = 0.5 * base::microsecond;
  machine.calibration.elementwise_fill_trips = 3.0;
  const auto cost = models::elementwise_cost({}, machine);
  CHECK(us(cost.time) == Approx(1.0 + 1.5));
  CHECK(cost.bound == models::Bound::latency);
}

// 10 tokens of 4096 on 8 experts each: the floor of seven small kernels is all of it, but for
// 1 976 320 B (scores 10·256·4, rows 2·80·4096 fp8 + 80·4096·2, tokens 10·4096·2) from the L2.
TEST_CASE("Expert routing of few tokens costs its seven kernels", "[unit]") {
  auto machine = round_machine();
  machine.dram_latency = 0.5 * base::microsecond;
  machine.calibration.elementwise_fill_trips = 3.0;
  machine.l2 = base::BytesPerSecond::from_si(1e12);
  const auto cost =
      models::expert_routing_cost({10, 80.0, 4096, 256, 8, base::NumberFormat::fp8}, machine);
  CHECK(us(cost.launch) == Approx(7.0));
  CHECK(us(cost.fill) == Approx(10.5));
  CHECK(us(cost.l2) == Approx((10240.0 + 655360.0 + 655360.0 + 81920.0) / 1e6));
}

// 1000 rows of 4096 from 500 tokens: (4·1000 + 2·500)·4096 elements, a quarter of a clock each, on 100 SMs
// of 1 GHz: 51.2 us, against 37 us of bytes at 1 TB/s.
TEST_CASE("Rows found through indices cost the SMs clocks for each element", "[unit]") {
  auto machine = round_machine();
  machine.l2_capacity = {};
  machine.calibration.row_clocks = 0.25;
  const workloads::ExpertRouting op{500, 1000.0, 4096, 8, 2, base::NumberFormat::bf16};
  const auto cost = models::expert_routing_cost(op, machine);
  CHECK(us(cost.compute) == Approx(51.2));
  CHECK(cost.bound == models::Bound::compute);
  machine.calibration.row_clocks = 0.0;
  CHECK(models::expert_routing_cost(op, machine).bound == models::Bound::memory);
}

// 256 experts of 100 clocks each at 1 GHz: 25.6 us more than with none; in blocks 300 clocks, 76.8 us; in fp4 200 clocks.
TEST_CASE("Kernels that search pass over every expert, for a time that its format decides",
          "[unit]") {
  auto machine = round_machine();
  machine.calibration.expert_clocks = 100.0;
  machine.calibration.block_expert_clocks = 300.0;
  machine.calibration.fp4_expert_clocks = 200.0;
  const auto search = [&](base::NumberFormat format) {
    const auto fill = [&](std::int64_t searched) {
      const workloads::ExpertRouting op{1, 8.0, 4096, 256, 8, format, false, searched};
      return us(models::expert_routing_cost(op, machine).fill);
    };
    return fill(256) - fill(0);
  };
  CHECK(search(base::NumberFormat::fp8) == Approx(25.6));
  CHECK(search(base::NumberFormat::fp8_block) == Approx(76.8));
  CHECK(search(base::NumberFormat::nvfp4) == Approx(51.2));
}

// 500 tokens' scores of 512 experts, 11 clocks each, on 100 SMs of 1 GHz: 28.16 us. The memory is out of the way.
TEST_CASE("More than sixteen choices are sorted out of a token's scores, by kernels of their own",
          "[unit]") {
  auto machine = round_machine();
  machine.calibration.row_clocks = 0.0;
  const auto chosen = [&](std::int64_t top_k) {
    return models::expert_routing_cost({500, 500.0, 64, 512, top_k, base::NumberFormat::bf16},
                                       machine);
  };
  CHECK(us(chosen(22).compute) == Approx(28.16));
  CHECK(us(chosen(16).compute) < 1.0);
  CHECK(us(chosen(22).launch) == Approx(us(chosen(16).launch) + 6.0));
}

// 10 GFLOP at a tenth of 1 PFLOP/s: 100 us, against 10 us for 10 MB.
TEST_CASE("A kernel of many products for each byte waits for the vector units", "[unit]") {
  auto machine = round_machine();
  machine.calibration.vector_efficiency = 0.1;
  const auto cost = models::elementwise_cost({5e6, 5e6, 1e10}, machine);
  CHECK(us(cost.compute) == Approx(100.0));
  CHECK(cost.bound == models::Bound::compute);
}

}  // namespace roofcast::unit_models_elementwise
