// SPDX-License-Identifier: Apache-2.0
#include "models/power.hpp"

#include <cmath>

#include "hardware/system.hpp"
#include "tests/catch.hpp"
#include "tests/unit/models/round_machine.hpp"

namespace roofcast::unit_models_power {

using models::Activity;
using models::drawn;

namespace {

base::Seconds seconds(double s) { return base::Seconds::from_si(s); }
base::Joules joules(double j) { return base::Joules::from_si(j); }

// 700 W at most, 300 W while a kernel runs, 100 W between.
models::PowerRates rates() {
  models::PowerRates r;
  r.limit = 700.0 * base::watt;
  r.active = 300.0 * base::watt;
  r.idle = 100.0 * base::watt;
  r.leakage = r.idle;
  r.flop.fill(base::JoulesPerFlop::from_si(1e-12));
  r.dram = base::JoulesPerByte::from_si(1e-10);
  r.link = base::JoulesPerByte::from_si(2e-10);
  return r;
}

// So many seconds and joules, of which the clock alone and the memory alone bound parts.
Activity activity(double running, double clocked, double flop, double bytes = 0.0,
                  double memory = 0.0) {
  Activity a{seconds(running), {}, joules(flop), joules(bytes)};
  a.bound[models::kClockAlone] = seconds(clocked);
  a.bound[models::kMemoryAlone] = seconds(memory);
  return a;
}

}  // namespace

// 300 W · 1 s + 100 W · 0.5 s + 100 J + 50 J = 500 J in 1.5 s.
TEST_CASE("Below the limit energy is static power, gaps, FLOP and bytes added up", "[unit]") {
  Activity a = activity(1, 1, 100, 50);
  a.gaps = seconds(0.5);
  const auto d = drawn(a, rates());
  CHECK(d.clock == 1.0);
  CHECK(d.time.si() == 1.5);
  CHECK(d.energy.si() == Approx(500.0));
  CHECK(d.power().si() == Approx(500.0 / 1.5));
}

// 100 W + 200 W · c² + 500 J · c² / 1 s = 700 W, so 7 c² = 6.
TEST_CASE("Compute at the limit is as slow as its falling energy asks for", "[unit]") {
  const auto d = drawn(activity(1, 1, 500), rates());
  const double clock = std::sqrt(6.0 / 7.0);
  CHECK(d.clock == Approx(clock));
  CHECK(d.time.si() == Approx(1.0 / clock));
  CHECK(d.power().si() == Approx(700.0));
}

// At c = 0.8: 0.5 s + 0.625 s. 100 W + 128 W, and 0.8 · 500 J + 131 J in 1.125 s are 472 W.
TEST_CASE("Only the time that the clock sets is stretched", "[unit]") {
  const auto d = drawn(activity(1, 0.5, 500, 131), rates());
  CHECK(d.clock == Approx(0.8));
  CHECK(d.time.si() == Approx(1.125));
  CHECK(d.energy.si() == Approx(700.0 * 1.125));
}

// The memory gives half of what the L2 passes on at full clocks. At c = 0.4 the bytes take 1.25 s:
// 100 W + 32 W + 710 J / 1.25 s = 700 W.
TEST_CASE("Clocks below those at which the L2 keeps up slow the memory down", "[unit]") {
  auto power = rates();
  power.memory_pace = 0.5;
  const auto d = drawn(activity(1, 0, 0, 710, 1), power);
  CHECK(d.clock == Approx(0.4));
  CHECK(d.time.si() == Approx(1.25));
  CHECK(d.power().si() == Approx(700.0));
  // Above them they save the power of the clock alone: 100 W + 200 W · c² + 487.5 W = 700 W.
  const auto lower = drawn(activity(1, 0, 0, 487.5, 1), power);
  CHECK(lower.clock == Approx(0.75));
  CHECK(lower.time.si() == Approx(1.0));
}

// The same bytes from memory twice as fast, in half a second beside half a second of latencies that no clock sets: m is 1.
// 100 W + 200 W · c² + 650 J / T = 700 W with T = 0.5 s + 0.25 s / c.
TEST_CASE("Faster memory under the same cap is no slower, and latencies do not wait for clocks",
          "[unit]") {
  auto power = rates();
  power.memory_pace = 0.5;
  const auto slow = drawn(activity(1, 0, 0, 650, 0.5), power);
  power.memory_pace = 1.0;
  const auto fast = drawn(activity(0.75, 0, 0, 650, 0.25), power);
  CHECK(fast.time.si() == Approx(slow.time.si()));  // the L2 passes on the same
  const double c = fast.clock;
  CHECK(100.0 + 200.0 * c * c + 650.0 / (0.5 + 0.25 / c) == Approx(700.0));
}

// Twice the SMs leak 200 W in place of 100. Work that no clock sets draws 200 + 400 c² + 450 W. With one of g SMs it is
// 200/g + 400 e · e·g + 450 W, least where e·g is √½: 400 √2 · e + 450 W. Products alone want all SMs: at lower clocks a FLOP
// costs less.
TEST_CASE("SMs that the parent lacks stand still where that draws less", "[unit]") {
  auto power = rates();
  power.idle *= 2.0;
  power.leakage *= 2.0;
  power.active *= 2.0;
  const Activity bytes = activity(1, 0, 0, 450, 1);
  const auto all = drawn(bytes, power);
  power.spare = 2.0;
  const auto some = drawn(bytes, power);
  CHECK(some.time.si() == Approx(1.0));
  CHECK(some.clock == Approx(std::sqrt(0.5)));
  CHECK(some.pace == Approx(250.0 / (400.0 * std::sqrt(2.0))));
  CHECK(some.power().si() == Approx(700.0));
  CHECK(all.clock == Approx(std::sqrt(50.0 / 400.0)));
  const Activity products = activity(1, 1, 1500);
  CHECK(drawn(products, power).clock == Approx(drawn(products, power).pace));
}

// Voltage² stays 0.5. 100 W + 0.5 · (200 W · c + 4000 J · c / 1 s) = 700 W: c = 600/2100.
TEST_CASE("Below the floor of the voltage a FLOP costs no less, and the clock falls on", "[unit]") {
  auto power = rates();
  power.voltage_floor = 0.5;
  const auto d = drawn(activity(1, 1, 4000), power);
  CHECK(d.clock == Approx(2.0 / 7.0));
  CHECK(d.time.si() == Approx(7.0 / 2.0));
  CHECK(d.power().si() == Approx(700.0));
}

// Voltage² is c²: 100 W + 200 W · c³ + 4600 J · c³ / 1 s = 700 W at c = 0.5.
TEST_CASE("A voltage that falls as fast as the clock makes power fall with its third power",
          "[unit]") {
  auto power = rates();
  power.voltage_exponent = 2.0;
  const Activity compute = activity(1, 1, 4600);
  const auto d = drawn(compute, power);
  CHECK(d.clock == Approx(0.5));
  CHECK(d.time.si() == Approx(2.0));
  CHECK(d.power().si() == Approx(700.0));
  // Below a floor of 0.6 it is 0.36: 100 W + 0.36 · 4800 W · c.
  power.voltage_floor = 0.6;
  CHECK(drawn(compute, power).clock == Approx(600.0 / 1728.0));
}

// Of 8 SMs for each one: 100 W/g + 400 W · e · (e·g)² draws least at e·g = 0.5, which is 300 W · e.
TEST_CASE("SMs that stand still are those that draw least, whatever the voltage", "[unit]") {
  auto power = rates();
  power.voltage_exponent = 2.0;
  power.spare = 8.0;
  power.limit = 90.0 * base::watt;
  const auto d = drawn(activity(1, 1, 200), power);
  CHECK(d.clock == Approx(0.5));
  CHECK(d.pace == Approx(0.3));
}

TEST_CASE("A chip without a TDP has no energy and full clocks", "[unit]") {
  const auto d = drawn(activity(1, 1, 1e6), {});
  CHECK(std::isnan(d.energy.si()));
  CHECK(d.clock == 1.0);
  CHECK(d.time.si() == 1.0);
}

TEST_CASE("The clock sets products, vectors and the L2, and no more than the operator takes",
          "[unit]") {
  const auto machine = models::round_machine();
  models::Cost cost;
  cost.compute = seconds(1.0);
  const auto clocked = [&](double time, double launch) {
    cost.time = seconds(time);
    cost.launch = seconds(launch);
    return models::clocked_time(cost, machine).si();
  };
  CHECK(clocked(1.0, 0.0) == Approx(1.0));
  CHECK(clocked(3.0, 1.0) == Approx(1.0));
  CHECK(clocked(1.5, 1.0) == Approx(0.5));
  cost.waiting = seconds(0.25);
  CHECK(clocked(1.0, 0.0) == Approx(0.75));
  cost.compute = cost.waiting = {};
  CHECK(clocked(1.0, 0.0) == 0.0);
  cost.l2 = seconds(0.5);
  CHECK(clocked(1.0, 0.0) == Approx(0.5));
}

// Products of 0.5 s behind 1 s of bytes: at half the clock both are equal, at a tenth the products bound. Shares between two
// that are counted are mixed, which is 3 % too slow at most, 9 % at a tenth of the clock.
TEST_CASE("A slow clock costs a kernel that memory bounds nothing until the clock bounds it",
          "[unit]") {
  auto machine = models::round_machine();
  machine.power = rates();
  const auto smooth = [](double a, double b) {
    return std::pow(std::pow(a, 4) + std::pow(b, 4), 0.25);
  };
  for (const double products : {0.0, 0.2, 0.5, 0.7, 1.0, 3.0}) {
    models::Cost cost;
    cost.compute = seconds(products);
    cost.dram = seconds(1.0);
    models::combine(cost, 4.0);
    Activity a;
    a.add(cost, base::MathType::bf16, 1.0, cost.time, machine);
    for (const double pace : {1.0, 0.9, 0.75, 0.5, 0.25, 0.1}) {
      INFO(products << " s at " << pace);
      const double slow = models::slowed(a, pace, pace, machine.power).si();
      CHECK(slow >= smooth(products / pace, 1.0) * (1.0 - 1e-12));
      CHECK(slow == Approx(smooth(products / pace, 1.0)).epsilon(pace < 0.5 ? 0.1 : 0.03));
    }
  }
}

// Of four times the SMs three stand still: products take as long as before, and the L2 does not notice.
TEST_CASE("SMs that stand still do not slow the L2", "[unit]") {
  auto machine = models::round_machine();
  machine.power = rates();
  models::Cost cost;
  cost.l2 = seconds(1.0);
  models::combine(cost, 4.0);
  Activity a;
  a.add(cost, base::MathType::bf16, 1.0, cost.time, machine);
  CHECK(models::slowed(a, 0.25, 1.0, machine.power).si() == Approx(1.0));
  CHECK(models::slowed(a, 0.25, 0.5, machine.power).si() == Approx(2.0));
}

TEST_CASE("A latency within an operator that the clock bounds does not wait for the clock",
          "[unit]") {
  auto machine = models::round_machine();
  machine.power = rates();
  models::Cost cost;
  cost.compute = seconds(1.0);
  cost.waiting = seconds(0.25);
  models::combine(cost, 4.0);
  Activity a;
  a.add(cost, base::MathType::bf16, 1.0, cost.time, machine);
  CHECK(models::slowed(a, 0.5, 0.5, machine.power).si() == Approx(1.75));
}

TEST_CASE("An activity counts FLOP, bytes and messages at their energies", "[unit]") {
  auto machine = models::round_machine();
  machine.power = rates();
  models::Cost cost;
  cost.time = seconds(2);
  cost.flop = base::Flops::from_si(1e12);
  cost.dram_bytes = base::Bytes::from_si(1e10);
  cost.message_bytes = base::Bytes::from_si(1e10);
  Activity activity;
  activity.add(cost, base::MathType::fp8, 3.0, seconds(6), machine);
  CHECK(activity.flop.si() == Approx(3.0));
  CHECK(activity.bytes.si() == Approx(3.0 * (1.0 + 2.0)));
  CHECK(activity.running.si() == 6.0);
}

TEST_CASE("A machine's energies are the calibration's shares of its chip's TDP", "[unit]") {
  hardware::System system;
  system.chip.tdp = 1000.0 * base::watt;
  system.chip.tensor[static_cast<std::size_t>(base::MathType::bf16)] =
      base::FlopsPerSecond::from_si(2e15);
  system.calibration.limit_share = 0.9;
  system.calibration.active_share = 0.5;
  system.calibration.idle_share = 0.2;
  system.calibration.flop_share.fill(0.8);
  const auto power = models::machine_of(system).power;
  CHECK(power.limit.si() == Approx(900.0));
  CHECK(power.active.si() == Approx(500.0));
  CHECK(power.idle.si() == Approx(200.0));
  CHECK(power.flop[static_cast<std::size_t>(base::MathType::bf16)].si() == Approx(4e-13));
  CHECK(power.flop[static_cast<std::size_t>(base::MathType::fp8)].si() == 0.0);
  // Half the cap is half the limit, and nothing else.
  system.chip.cap = 500.0 * base::watt;
  const auto capped = models::machine_of(system).power;
  CHECK(capped.limit.si() == Approx(450.0));
  CHECK(capped.active == power.active);
  CHECK(capped.flop == power.flop);
  // The memory's own share of a byte's energy is its own.
  system.calibration.dram_energy = base::JoulesPerByte::from_si(65e-12);
  system.calibration.dram_device_energy = base::JoulesPerByte::from_si(31e-12);
  CHECK(models::machine_of(system).power.dram.si() == Approx(65e-12));
  system.chip.memory_energy = base::JoulesPerByte::from_si(60e-12);
  CHECK(models::machine_of(system).power.dram.si() == Approx(94e-12));
  system.chip.cap.reset();
  system.chip.tdp.reset();
  CHECK_FALSE(models::machine_of(system).power.known());
}

}  // namespace roofcast::unit_models_power
