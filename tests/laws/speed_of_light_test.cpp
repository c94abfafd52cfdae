// SPDX-License-Identifier: Apache-2.0
//
// Nothing is faster than the datasheet: whatever the model of an operator says, its time is at
// least the work it must do over the rate of the resource that does it.
#include <algorithm>
#include <cmath>
#include <random>

#include "models/work.hpp"
#include "tests/catch.hpp"
#include "tests/laws/cases/violations.hpp"
#include "tests/laws/catalog.hpp"

namespace roofcast::laws::laws_speed_of_light {
namespace {

constexpr double kRounding = 1e-12;

std::string at(const workloads::Operator& op, const sim::Platform& p) {
  return p.system.id + ": " + describe(op);
}

// How far `time` is below `bound`, relative to it.
double below(base::Seconds time, base::Seconds bound) {
  return bound.si() > 0.0 ? 1.0 - time / bound : -1.0;
}

TEST_CASE("No operator multiplies faster than the dense peak of the datasheet", "[laws]") {
  Violations law(kRounding);
  for (const auto& p : platforms()) {
    for (const auto& op : operators()) {
      const base::Flops flop = models::work_of(op).flop;
      if (!runs_on(op, p) || flop.si() == 0.0) {
        continue;
      }
      const base::FlopsPerSecond peak = p.system.chip.peak(models::math_of(op, p.machine));
      law.add(below(models::cost_of(op, p.machine).time, flop / peak), [&] { return at(op, p); });
    }
  }
  ROOFCAST_CHECK_LAW(law);
}

// A small elementwise kernel finds its data in the L2, so for it the L2 is the roof.
TEST_CASE("No operator reads and writes its bytes faster than the datasheet's memory", "[laws]") {
  Violations law(kRounding);
  for (const auto& p : platforms()) {
    for (const auto& op : operators()) {
      const base::Bytes bytes = models::work_of(op).bytes;
      if (!runs_on(op, p) || bytes.si() == 0.0) {
        continue;
      }
      const models::Cost cost = models::cost_of(op, p.machine);
      const base::Bytes resident = base::max(base::Bytes{}, bytes - cost.dram_bytes);
      law.add(below(cost.time,
                    base::max(cost.dram_bytes / p.system.chip.bandwidth, resident / p.machine.l2)),
              [&] { return at(op, p); });
      if (resident > base::Bytes{}) {
        law.add(bytes <= p.system.chip.l2_capacity_used() ? 0.0 : 1.0, [&] { return at(op, p); });
      }
    }
  }
  ROOFCAST_CHECK_LAW(law);
}

// In-switch reduction sends each byte once, deduplicated rows once to each rank. Groups inside a domain have the scale-up port; groups
// beyond it have both ports, and their ranks outside the domain are reached through the NIC only.
TEST_CASE("No collective is faster than the ports of its ranks", "[laws]") {
  Violations law(kRounding);
  for (const auto& p : platforms()) {
    for (const auto& op : operators()) {
      const auto* c = std::get_if<workloads::Collective>(&op);
      if (c == nullptr || !runs_on(op, p)) {
        continue;
      }
      const models::Cost cost = models::cost_of(op, p.machine);
      const bool in_switch = models::name(cost.algorithm).starts_with("in") ||
                             cost.algorithm == models::Algorithm::multimem;
      base::Bytes sent =
          in_switch ? base::Bytes::from_si(c->bytes) : models::collective_work(*c).message;
      if (cost.algorithm ==
          models::Algorithm::deduplicated) {  // one copy for each of the n ranks that k draws reach
        const auto n = static_cast<double>(c->ranks);
        const auto k = static_cast<double>(c->copies);
        sent *= n * (1.0 - std::pow(1.0 - 1.0 / n, k)) / k;
      }
      base::BytesPerSecond port = p.system.scale_up.bandwidth;
      if (c->ranks * c->stride > p.system.scale_up_domain) {
        port = port + p.system.scale_out.value().bandwidth;
      }
      law.add(below(cost.time, sent / port), [&] { return at(op, p); });
    }
  }
  ROOFCAST_CHECK_LAW(law);
}

TEST_CASE("A kernel takes at least its launch, its hops and every one of its terms", "[laws]") {
  Violations law(kRounding);
  for (const auto& p : platforms()) {
    for (const auto& op : operators()) {
      if (!runs_on(op, p)) {
        continue;
      }
      const models::Cost c = models::cost_of(op, p.machine);
      const base::Seconds most =
          base::max(base::max(c.compute, c.dram), base::max(c.l2, c.network));
      const base::Seconds all = c.compute + c.dram + c.l2 + c.network;
      const base::Seconds latency = c.launch + c.fill;
      law.add(below(c.time, latency + most), [&] { return at(op, p); });
      law.add(c.time / (latency + all) - 1.0, [&] { return at(op, p); });
      law.add(std::isfinite(c.time.si()) && c.time.si() > 0.0 ? 0.0 : 1.0,
              [&] { return at(op, p); });
    }
  }
  ROOFCAST_CHECK_LAW(law);
}

TEST_CASE("The smooth maximum lies between the largest term and the sum of all", "[laws]") {
  std::mt19937 random(1);
  std::lognormal_distribution<double> spread(0.0, 3.0);
  Violations law(kRounding);
  for (int i = 0; i < 2000; ++i) {
    models::Cost cost;
    cost.compute = spread(random) * base::microsecond;
    cost.dram = spread(random) * base::microsecond;
    cost.l2 = i % 3 == 0 ? base::Seconds{} : spread(random) * base::microsecond;
    const double p = i % 2 == 0 ? 4.0 : 1.0 + spread(random);
    models::combine(cost, p);
    const base::Seconds most = base::max(base::max(cost.compute, cost.dram), cost.l2);
    const base::Seconds sum = cost.compute + cost.dram + cost.l2;
    const auto where = [&] { return fmt::format("exponent {}", p); };
    law.add(below(cost.time, most), where);
    law.add(cost.time / sum - 1.0, where);
  }
  ROOFCAST_CHECK_LAW(law);
}

}  // namespace
}  // namespace roofcast::laws::laws_speed_of_light
