// SPDX-License-Identifier: Apache-2.0
//
// What a kernel does with its time (models/operators/anatomy.hpp), over every operator that the models of the catalog
// ask for, on every system.
#include <algorithm>
#include <cmath>

#include "models/operators/explained_cost.hpp"
#include "models/work.hpp"
#include "tests/catch.hpp"
#include "tests/laws/cases/violations.hpp"
#include "tests/laws/catalog.hpp"

namespace roofcast::laws::laws_anatomy {
namespace {

using models::Cause;
using models::Cost;

constexpr double kRounding = 1e-9;

std::string at(const workloads::Operator& op, const sim::Platform& p) {
  return p.system.id + ": " + describe(op);
}

// Calls visit(platform, operator, cost, anatomy) for each operator that runs.
template <class Visit>
void for_each_kernel(Visit visit) {
  for (const auto& p : platforms()) {
    for (const auto& op : operators()) {
      if (!runs_on(op, p)) {
        continue;
      }
      models::Anatomy anatomy;
      const Cost cost = models::cost_of(op, p.machine, anatomy);
      visit(p, op, cost, anatomy);
    }
  }
}

// Relative to the time, which may be that of terms that are small beside it.
double apart(base::Seconds a, base::Seconds b, base::Seconds time) {
  return std::abs((a - b).si()) / time.si();
}

}  // namespace

TEST_CASE("To explain a kernel does not change its cost", "[laws]") {
  Violations law(0.0);
  for_each_kernel([&](const auto& p, const auto& op, const Cost& cost, const auto&) {
    const Cost plain = models::cost_of(op, p.machine);
    bool same = cost.algorithm == plain.algorithm && cost.runner_up == plain.runner_up &&
                cost.bound == plain.bound && cost.flop == plain.flop &&
                cost.dram_bytes == plain.dram_bytes;
    for (base::Seconds Cost::*term : {&Cost::time, &Cost::launch, &Cost::fill, &Cost::compute,
                                      &Cost::dram, &Cost::l2, &Cost::network}) {
      same = same && cost.*term == plain.*term;
    }
    law.add(same ? 0.0 : 1.0, [&] { return at(op, p); });
  });
  ROOFCAST_CHECK_LAW(law);
}

TEST_CASE("The parts of every term of a kernel add up to the term, and none is below nothing",
          "[laws]") {
  Violations law(kRounding);
  for_each_kernel([&](const auto& p, const auto& op, const Cost& cost, const auto& anatomy) {
    const auto where = [&] { return at(op, p); };
    for (base::Seconds Cost::*term :
         {&Cost::launch, &Cost::fill, &Cost::compute, &Cost::dram, &Cost::l2, &Cost::network}) {
      base::Seconds sum;
      for (const models::Part& part : anatomy.parts) {
        sum += part.term == term ? part.time : base::Seconds{};
      }
      law.add(apart(std::max(1.0, anatomy.correction) * sum, cost.*term, cost.time), where);
    }
    for (const models::Part& part : anatomy.parts) {
      law.add(-part.time.si() / cost.time.si(), where);
    }
  });
  ROOFCAST_CHECK_LAW(law);
}

// A correction says that a kernel is faster or slower than the model. What it multiplies, and the peak, stay: so faster
// epilogues, waves or steps leave products with more of the time, never with less time. Only where the whole compute term
// is corrected to less than the products, for which other terms leave room, is nothing else left of it.
TEST_CASE("Products at the peak keep their time when the rest of their kernel is corrected",
          "[laws]") {
  Violations law(kRounding);
  Violations whole(kRounding);
  std::size_t faster = 0;
  const auto products_of = [](const models::Anatomy& anatomy, bool others) {
    base::Seconds time;
    for (const models::Part& part : anatomy.parts) {
      const bool products = part.cause == Cause::tensor;
      time += part.term == &Cost::compute && products != others ? part.time : base::Seconds{};
    }
    return time;
  };
  for (const auto& p : platforms()) {
    models::Machine machine = p.machine;
    machine.calibration.relatives.clear();
    for (const auto& op : operators()) {
      if (!runs_on(op, p) || models::work_of(op).flop.si() == 0.0) {
        continue;
      }
      machine.calibration.corrections_share = 0.0;
      models::Anatomy physical;
      const Cost without = models::cost_of(op, machine, physical);
      const base::Seconds products = products_of(physical, false);
      if (!(products.si() > 0.0)) {
        continue;
      }
      for (const double share : {-1.0, 0.5, 1.0, 2.0}) {
        machine.calibration.corrections_share = share;
        models::Anatomy corrected;
        const Cost cost = models::cost_of(op, machine, corrected);
        const base::Seconds left = std::min(1.0, corrected.correction) * without.compute;
        const base::Seconds kept = base::min(products, left);
        law.add(apart(products_of(corrected, false), kept, cost.time), [&] { return at(op, p); });
        whole.add(left <= products ? products_of(corrected, true) / cost.time : 0.0,
                  [&] { return at(op, p); });
        faster += corrected.correction < 1.0 && left > products ? 1U : 0U;
      }
    }
  }
  CHECK(faster > 1000);
  ROOFCAST_CHECK_LAW(law);
  ROOFCAST_CHECK_LAW(whole);
}

TEST_CASE("The shares of the causes of a kernel's time add up to one", "[laws]") {
  Violations law(kRounding);
  for_each_kernel([&](const auto& p, const auto& op, const Cost& cost, const auto& anatomy) {
    double sum = 0.0;
    for (const models::Share& share :
         models::shares_of(cost, anatomy, p.machine.calibration.overlap_exponent)) {
      sum += share.share;
    }
    law.add(std::abs(sum - 1.0), [&] { return at(op, p); });
  });
  ROOFCAST_CHECK_LAW(law);
}

TEST_CASE("A kernel is limited by tensor cores only where they reach more than half of their peak",
          "[laws]") {
  Violations law(0.0);
  std::size_t tensor = 0;
  for_each_kernel([&](const auto& p, const auto& op, const Cost& cost, const auto& anatomy) {
    const auto shares = models::shares_of(cost, anatomy, p.machine.calibration.overlap_exponent);
    const double reached = models::share_of_peak(op, cost, p.machine);
    const bool by_tensor = models::verdict_of(shares, reached) == Cause::tensor;
    const base::FlopsPerSecond peak = p.system.chip.peak(models::math_of(op, p.machine));
    tensor += by_tensor ? 1U : 0U;
    law.add(by_tensor && cost.flop / cost.time <= 0.5 * peak ? 1.0 : 0.0,
            [&] { return at(op, p); });
  });
  ROOFCAST_CHECK_LAW(law);
  CHECK(tensor > 0);
}

TEST_CASE("No kernel is nearer to a roof of its chip than the roof itself", "[laws]") {
  Violations law(kRounding);
  for_each_kernel([&](const auto& p, const auto& op, const Cost& cost, const auto&) {
    for (const models::Roof& roof : models::roofs_of(op, cost, p.machine)) {
      law.add(1.0 - roof.distance, [&] { return std::string(roof.name) + " of " + at(op, p); });
    }
  });
  ROOFCAST_CHECK_LAW(law);
}

// Little's law from the other side: what waits for bytes that nobody has asked for needs more of them than the thread
// blocks can have in flight.
TEST_CASE("A kernel whose loads come from every SM has enough bytes in flight", "[laws]") {
  Violations law(kRounding);
  for_each_kernel([&](const auto& p, const auto& op, const Cost& cost, const auto& anatomy) {
    const models::Machine& m = p.machine;
    const bool enough =
        m.sms * m.calibration.in_flight_bytes_per_sm * base::byte >= m.dram * m.dram_latency;
    if (!std::holds_alternative<workloads::Elementwise>(op) || anatomy.loading < m.sms || !enough) {
      return;
    }
    for (const models::Part& part : anatomy.parts) {
      law.add(part.cause == Cause::latency ? part.time / cost.time : 0.0,
              [&] { return at(op, p); });
    }
  });
  ROOFCAST_CHECK_LAW(law);
}

}  // namespace roofcast::laws::laws_anatomy
