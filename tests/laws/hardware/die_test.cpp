// SPDX-License-Identifier: Apache-2.0
//
// A die that is changed, and power that is capped, over every chip of the catalog.
#include "hardware/chip_changes.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "models/operators/elementwise.hpp"
#include "models/operators/gemm.hpp"
#include "models/operators/operator_cost.hpp"
#include "models/operators/tiling.hpp"
#include "models/power.hpp"
#include "sim/decide/overridden_scenario.hpp"
#include "sim/scenario/knob.hpp"
#include "tests/catch.hpp"
#include "tests/laws/cases/serving_cases.hpp"
#include "tests/laws/cases/violations.hpp"
#include "tests/laws/catalog.hpp"

namespace roofcast::laws::laws_hardware_die {
namespace {

constexpr double kRounding = 1e-12;

using Settings = std::vector<std::string>;

sim::Platform changed(const std::string& system, const Settings& settings) {
  base::Problems problems;
  base::Node document = base::parse_document("catalog", fmt::format("system: {}", system));
  sim::load_references(document, problems);  // a changed chip keeps its calibration
  for (const std::string& setting : settings) {
    sim::set_knob(document, {"--set", setting, {}}, problems);
  }
  problems.throw_if_any();
  sim::Platform platform = sim::read_platform(document, problems);
  problems.throw_if_any();
  return platform;
}

// The knob of a chip's clock and of its SMs: what the datasheet states, or what is assumed for it.
std::string clock_of(const sim::Platform& p) {
  return p.system.chip.clock ? "system.chip.compute.clock" : "system.chip.assumed.clock";
}
std::string sms_of(const sim::Platform& p) {
  return p.system.chip.sms ? "system.chip.compute.sms" : "system.chip.assumed.sms";
}

double apart(double a, double b) { return a == b ? 0.0 : std::abs(a / b - 1.0); }

}  // namespace

TEST_CASE("Twice the SMs at half the clock have the same rates, and half of both a quarter",
          "[laws]") {
  Violations same(kRounding);
  Violations quarter(kRounding);
  for (const sim::Platform& p : platforms()) {
    const sim::Platform wide = changed(p.system.id, {sms_of(p) + "=x2", clock_of(p) + "=x0.5"});
    const sim::Platform small = changed(p.system.id, {sms_of(p) + "=x0.5", clock_of(p) + "=x0.5"});
    const double fewer = small.machine.sms / p.machine.sms / 2.0;  // of an odd number of SMs
    const auto compare = [&](const char* what, auto rate) {
      const auto where = [&] { return fmt::format("{} of {}", what, p.system.id); };
      same.add(apart(rate(wide), rate(p)), where);
      quarter.add(apart(rate(small), fewer * rate(p)), where);
    };
    CHECK(wide.machine.sms == 2.0 * p.machine.sms);
    for (std::size_t i = 0; i < base::kMathTypes; ++i) {
      compare("peak", [&](const sim::Platform& q) { return q.machine.peak[i].si(); });
    }
    compare("exponentials", [](const sim::Platform& q) { return q.machine.exponential.si(); });
    if (!p.system.chip.l2_slices) {
      compare("L2", [](const sim::Platform& q) { return q.machine.l2.si(); });
    }
    CHECK(wide.machine.dram == p.machine.dram);
  }
  ROOFCAST_CHECK_LAW(same);
  ROOFCAST_CHECK_LAW(quarter);
}

TEST_CASE("Twice the L2 slices have twice the L2's rate and capacity, known or not", "[laws]") {
  std::size_t sliced = 0;
  for (const sim::Platform& p : platforms()) {
    INFO(p.system.id);
    const sim::Platform twice = changed(p.system.id, {"system.chip.l2.slices=x2"});
    CHECK(twice.machine.l2.si() == Approx(2.0 * p.machine.l2.si()));
    if (p.system.chip.l2_capacity) {
      CHECK(twice.machine.l2_capacity.si() == Approx(2.0 * p.machine.l2_capacity.si()));
    }
    CHECK(twice.machine.peak == p.machine.peak);
    const sim::Platform half =
        changed(p.system.id, {"system.chip.l2.slices=x0.5", clock_of(p) + "=x2"});
    CHECK(half.machine.l2.si() == Approx(p.machine.l2.si()));
    if (p.system.chip.l2_slices) {
      ++sliced;
      CHECK(changed(p.system.id, {sms_of(p) + "=x2"}).machine.l2 == p.machine.l2);
    }
  }
  CHECK(sliced > 0);
}

// One wave of tiles, and contexts that are split over all SMs: more SMs, with an L2 and a memory that did not grow, are idle
// at worst.
TEST_CASE("More SMs slow no kernel down whose memory stays, within 1 %", "[laws]") {
  workloads::DecodeAttention decode;
  decode.sequences = 64;
  decode.context = 4096;
  decode.heads.query_heads = 8;
  decode.heads.kv_heads = 1;
  decode.heads.qk_dim = decode.heads.value_dim = 128;
  decode.heads.cache_elements = 256;
  const std::vector<std::pair<std::string, workloads::Operator>> all = {
      {"a GEMM of one wave", workloads::Gemm{300, 4096, 4096}},
      {"a GEMM of few rows", workloads::Gemm{64, 8192, 8192}},
      {"decode attention", decode}};
  Violations slower(0.01);
  for (const sim::Platform& p : platforms()) {
    std::vector<double> fastest(all.size(), std::numeric_limits<double>::infinity());
    for (const double factor : {0.5, 0.75, 1.0, 1.15, 1.5, 2.0, 4.0}) {
      const sim::Platform q = changed(p.system.id, {fmt::format("{}=x{}", sms_of(p), factor)});
      for (std::size_t i = 0; i < all.size(); ++i) {
        const double time = models::cost_of(all[i].second, q.machine).time.si();
        slower.add(std::max(0.0, time / fastest[i] - 1.0), [&] {
          return fmt::format("{} on {} with SMs x{}", all[i].first, p.system.id, factor);
        });
        fastest[i] = std::min(fastest[i], time);
      }
    }
  }
  ROOFCAST_CHECK_LAW(slower);
}

TEST_CASE("A changed die keeps its energies: more SMs draw more, a higher clock costs a FLOP more",
          "[laws]") {
  for (const sim::Platform& p : platforms()) {
    const models::PowerRates& power = p.machine.power;
    if (!power.known()) {
      continue;
    }
    INFO(p.system.id);
    const auto bf16 = static_cast<std::size_t>(base::MathType::bf16);
    const auto rates = [&](const Settings& settings) {
      return changed(p.system.id, settings).machine.power;
    };
    const models::PowerRates wide = rates({sms_of(p) + "=x2"});
    CHECK(wide.flop[bf16].si() == Approx(power.flop[bf16].si()));
    CHECK(wide.leakage.si() == Approx(2.0 * power.leakage.si()));
    CHECK((wide.idle - wide.leakage).si() == Approx((power.idle - power.leakage).si()));
    CHECK((wide.active - wide.idle).si() == Approx(2.0 * (power.active - power.idle).si()));
    CHECK(wide.limit == power.limit);
    const models::PowerRates fast = rates({clock_of(p) + "=x1.25"});
    CHECK(fast.flop[bf16].si() ==
          Approx(std::pow(1.25, power.voltage_exponent) * power.flop[bf16].si()));
    CHECK(fast.idle == power.idle);
    CHECK(fast.active > power.active);
    const models::PowerRates slow = rates({clock_of(p) + "=x0.25"});
    CHECK(slow.flop[bf16].si() == Approx(power.voltage(0.25) * power.flop[bf16].si()));
    const models::PowerRates stronger = rates({"system.chip.tensor.*=x2"});
    CHECK(stronger.flop[bf16].si() == Approx(power.flop[bf16].si()));
    for (const char* knob : {"system.chip.power.tdp=x0.5", "system.chip.power.tdp=x2"}) {
      const models::PowerRates moved = rates({knob});
      CHECK(moved.flop[bf16].si() == Approx(power.flop[bf16].si()));
      CHECK(moved.active.si() == Approx(power.active.si()));
      CHECK(moved.limit != power.limit);
    }
  }
}

TEST_CASE("A lower cap is never faster, and its joules fall to a least and rise again", "[laws]") {
  Violations faster(kRounding);
  for (const sim::Platform& p : platforms()) {
    models::PowerRates rates = p.machine.power;
    if (!rates.known()) {
      continue;
    }
    INFO(p.system.id);
    models::Activity products{1.0 * base::second, {}, rates.limit * base::second, {}};
    products.bound[models::kClockAlone] = 1.0 * base::second;
    const base::Watts full = rates.limit;
    std::vector<double> joules;
    base::Seconds before{};
    for (double share = 1.0; share * full > 1.02 * rates.idle; share -= 0.01) {
      rates.limit = share * full;
      const models::Drawn d = models::drawn(products, rates);
      faster.add(before / d.time - 1.0, [&] { return fmt::format("{} {}", p.system.id, share); });
      CHECK(d.power() <= rates.limit * (1.0 + kRounding));
      joules.push_back(d.energy.si());
      before = d.time;
    }
    const auto least = std::min_element(joules.begin(), joules.end());
    CHECK(least != joules.begin());
    CHECK(least != joules.end() - 1);
    CHECK(std::is_sorted(joules.begin(), least + 1, std::greater<>()));
    CHECK(std::is_sorted(least, joules.end()));
  }
  ROOFCAST_CHECK_LAW(faster);
}

namespace {

// Products, exponentials, scans and vectors: kernels that the clock bounds, but for launches, ends and the memory.
std::vector<std::pair<std::string, workloads::Operator>> clocked_kernels(const sim::Platform& p) {
  const base::NumberFormat format = p.machine.supports(base::MathType::bf16)
                                        ? base::NumberFormat::bf16
                                        : base::NumberFormat::fp16;
  workloads::PrefillAttention prefill;
  prefill.sequences = 4;
  prefill.new_tokens = 16384;
  prefill.heads = {32, 8, 128, 128, 0, 2048, format};
  workloads::StateScan scan;
  scan.sequences = 16;
  scan.tokens = 16384;
  scan.chunk = 256;
  scan.heads = {workloads::Recurrence::ssm, 128, 8, 128, 64};
  return {{"a GEMM", workloads::Gemm{16384, 16384, 16384, 1, format, format}},
          {"prefill attention", prefill},
          {"a scan", scan},
          {"vector FLOP", workloads::Elementwise{1e9, 1e9, 1e15}}};
}

// What a kernel takes under the cap that holds the chip at half of its clock.
base::Seconds at_half_the_clock(const models::Activity& kernel, models::PowerRates rates) {
  models::Drawn drawn;
  base::Watts least{};
  base::Watts most = 4.0 * rates.limit + kernel.flop / kernel.running;
  for (int i = 0; i < 100; ++i) {
    rates.limit = 0.5 * (least + most);
    drawn = models::drawn(kernel, rates);
    (drawn.clock < 0.5 ? least : most) = rates.limit;
  }
  CHECK(drawn.clock == Approx(0.5));
  return drawn.time;
}
base::Seconds capped_time(const models::Cost& cost, base::MathType math,
                          const models::Machine& machine) {
  models::Activity kernel;
  kernel.add(cost, math, 1.0, cost.time, machine);
  return at_half_the_clock(kernel, machine.power);
}

}  // namespace

// The clock sets nine tenths of such a kernel or more. The smooth maximum of its terms is not linear in them: 1.4 % of a GEMM.
TEST_CASE("A cap that halves the clock costs what half the clock costs, where the clock bounds",
          "[laws]") {
  Violations law(0.02);
  std::map<std::string, std::size_t> checked;
  for (const sim::Platform& p : platforms()) {
    if (!p.machine.power.known()) {
      continue;
    }
    const sim::Platform half = changed(p.system.id, {clock_of(p) + "=x0.5"});
    for (const auto& [name, op] : clocked_kernels(p)) {
      const models::Cost cost = models::cost_of(op, p.machine);
      if (models::clocked_time(cost, p.machine) < 0.9 * cost.time) {
        continue;
      }
      const base::Seconds capped = capped_time(cost, models::math_of(op, p.machine), p.machine);
      const base::Seconds slow = models::cost_of(op, half.machine).time;
      law.add(apart(capped.si(), slow.si()),
              [&, &name = name] { return fmt::format("{} on {}", name, p.system.id); });
      ++checked[name];
    }
  }
  for (const auto& [name, count] : checked) {
    INFO(name);
    CHECK(count > 40);
  }
  CHECK(checked.size() == 4);
  ROOFCAST_CHECK_LAW(law);
}

// Skinny GEMMs wait for latencies, and streams pass the L2. What the clock sets is taken to be linear in 1/clock, the smooth
// maximum is not. Tiles are given: at another clock the library may take others.
TEST_CASE("A cap that halves the clock costs what half the clock costs, whatever the clock bounds",
          "[laws]") {
  using Kernel = std::function<models::Cost(const models::Machine&)>;
  const auto gemm = [](const workloads::Gemm& op, const models::Tiling& tile) {
    return Kernel(
        [=](const models::Machine& m) { return models::gemm_cost(op, m, nullptr, &tile); });
  };
  const std::vector<std::pair<std::string, Kernel>> kernels = {
      {"a deep GEMM", gemm({16, 2048, 32768}, {16, 64})},
      {"a GEMM of a decode", gemm({16, 2112, 7168}, {16, 64})},
      {"a wide GEMM", gemm({64, 8192, 8192}, {64, 64})},
      {"a GEMM of prompts", gemm({2048, 8192, 8192}, {128, 128})},
      {"a stream", [](const models::Machine& m) {
         return models::elementwise_cost({1e9, 1e9, 0.0}, m, nullptr);
       }}};
  Violations law(0.2);
  for (const sim::Platform& p : platforms()) {
    if (!p.machine.power.known() || !p.machine.supports(base::MathType::bf16)) {
      continue;
    }
    const sim::Platform half = changed(p.system.id, {clock_of(p) + "=x0.5"});
    for (const auto& [name, cost_on] : kernels) {
      law.add(apart(capped_time(cost_on(p.machine), base::MathType::bf16, p.machine).si(),
                    cost_on(half.machine).time.si()),
              [&, &name = name] { return fmt::format("{} on {}", name, p.system.id); });
    }
  }
  ROOFCAST_CHECK_LAW(law);
}

TEST_CASE("Memory behind a slower L2 gives no more than the L2 passes on", "[laws]") {
  for (const sim::Platform& p : platforms()) {
    const sim::Platform fast = changed(p.system.id, {"system.chip.hbm.bandwidth=x16"});
    INFO(p.system.id);
    CHECK_FALSE(p.machine.dram_behind_l2);
    CHECK(fast.machine.dram == base::min(fast.machine.l2, 16.0 * p.machine.dram));
  }
}

// Under the TDP of the chip, with a cap of two fifths of it, and with one that never binds. The time that stopped SMs cost is
// linear in the part that the clock sets, which is too much by up to 3.1 % where that cap binds.
// Equal requests on several ranks or stages come back in waves, of which there are several kinds: a little faster, and each
// iteration has a prompt (12 % of the throughput of DeepSeek-V2 on two stages, which its simulation loses too).
TEST_CASE(
    "Better hardware makes no server slower by more than 1 %, 5 % under a low cap, 15 % on "
    "several ranks or stages",
    "[laws][long]") {
  struct Better {
    std::string name;
    Settings before, after;
  };
  const auto knobs = [](const sim::Platform& p) {
    std::vector<Better> all;
    const auto add = [&](const std::string& knob, const Settings& base) {
      Settings better = base;
      better.push_back(knob + "=x1.25");
      all.push_back({fmt::format("{} {}", knob, fmt::join(base, " ")), base, better});
    };
    const auto cap = [&](double share) {
      return fmt::format("system.chip.power.cap={} W", share * p.system.chip.tdp->si());
    };
    std::vector<Settings> bases{{}};
    if (p.machine.power.known()) {
      bases.push_back({cap(0.4)});
      bases.push_back({"system.chip.power.tdp=x10"});
    }
    for (const Settings& base : bases) {
      add(sms_of(p), base);
      add(clock_of(p), base);
      add("system.chip.tensor.*", base);
      add("system.chip.hbm.bandwidth", base);
    }
    add("system.calibration.memory.l2_efficiency", bases.back());
    all.back().before.push_back("system.calibration.memory.l2_efficiency=0.5");
    all.back().after.back() = "system.calibration.memory.l2_efficiency=0.6";
    if (p.machine.power.known()) {
      all.push_back({"cap", {cap(0.5)}, {cap(0.8)}});
    }
    return all;
  };
  Violations law(0.01);
  Violations capped(0.05);
  Violations spread(0.15);
  std::map<std::string, std::vector<std::pair<Better, std::pair<sim::Platform, sim::Platform>>>>
      systems;
  sim::Workspace workspace;
  std::size_t compared = 0;
  for_each_feasible(11, 9001, {1, 24, 300}, [&](const ServingCase& c) {
    const sim::Platform& p = *c.scenario.platform;
    auto& better = systems[p.system.id];
    if (better.empty()) {
      for (const Better& b : knobs(p)) {
        better.push_back({b, {changed(p.system.id, b.before), changed(p.system.id, b.after)}});
      }
    }
    for (const auto& [b, both] : better) {
      sim::ScenarioView before = c.scenario;
      sim::ScenarioView after = c.scenario;
      before.platform = &both.first;
      after.platform = &both.second;
      const auto slow = sim::estimate(before, workspace);
      const auto fast = sim::estimate(after, workspace);
      Violations& of = is_spread(*c.scenario.mapping)                  ? spread
                       : b.name.find("power.cap") == std::string::npos ? law
                                                                       : capped;
      of.add(slow.output_rate / fast.output_rate - 1.0,
             [&, &name = b.name] { return fmt::format("{}: {}", name, c.text()); });
      ++compared;
    }
  });
  CHECK(compared > 200);
  ROOFCAST_CHECK_LAW(law);
  ROOFCAST_CHECK_LAW(capped);
  ROOFCAST_CHECK_LAW(spread);
}

}  // namespace roofcast::laws::laws_hardware_die
