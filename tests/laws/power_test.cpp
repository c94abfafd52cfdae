// SPDX-License-Identifier: Apache-2.0
//
// Laws of energy and power.
#include "models/power.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "sim/estimate.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"
#include "tests/laws/cases/serving_cases.hpp"
#include "tests/laws/cases/violations.hpp"
#include "tests/laws/catalog.hpp"

namespace roofcast::laws::laws_power {
namespace {

constexpr double kRounding = 1e-12;

TEST_CASE("An operator draws at least the active power and at most the limit", "[laws]") {
  Violations least(kRounding);
  Violations most(kRounding);
  Violations clocks(0.0);
  Violations slower(kRounding);
  for (const auto& p : platforms()) {
    if (!p.machine.power.known()) {
      continue;
    }
    for (const auto& op : operators()) {
      if (!runs_on(op, p)) {
        continue;
      }
      const models::Cost cost = models::cost_of(op, p.machine);
      if (!(cost.time.si() > 0.0)) {
        continue;
      }
      models::Activity activity;
      activity.add(cost, models::math_of(op, p.machine), 1.0, cost.time, p.machine);
      const models::Drawn drawn = models::drawn(activity, p.machine.power);
      const auto where = [&] { return p.system.id + ": " + describe(op); };
      least.add(1.0 - drawn.power() / p.machine.power.idle, where);
      most.add(drawn.power() / p.machine.power.limit - 1.0, where);
      clocks.add(drawn.clock > 1.0 || drawn.clock < 0.1 ? 1.0 : 0.0, where);
      slower.add(cost.time / drawn.time - 1.0, where);
    }
  }
  ROOFCAST_CHECK_LAW(least);
  ROOFCAST_CHECK_LAW(most);
  ROOFCAST_CHECK_LAW(clocks);
  ROOFCAST_CHECK_LAW(slower);
}

TEST_CASE("More of anything takes no less time and more energy", "[laws]") {
  const auto& power = platforms().front().machine.power;
  REQUIRE(power.known());
  const double shares[] = {0.0, 0.02, 0.3, 1.0, 3.0};
  Violations time(kRounding);
  Violations energy(kRounding);
  const auto seconds = [](double s) { return base::Seconds::from_si(s); };
  for (const double compute : shares) {
    for (const double rest : shares) {
      for (const double gaps : shares) {
        for (const double flop : shares) {
          for (const double bytes : shares) {
            models::Activity before{seconds(compute + rest), seconds(gaps),
                                    flop * power.limit * seconds(compute),
                                    bytes * power.limit * seconds(rest)};
            before.bound[models::kClockAlone] = seconds(compute);
            if (!(before.running.si() > 0.0)) {
              continue;
            }
            const models::Drawn a = models::drawn(before, power);
            const auto grows = [&](const models::Activity& more) {
              const models::Drawn b = models::drawn(more, power);
              const auto where = [&] {
                return fmt::format("compute {} rest {} gaps {} flop {} bytes {}", compute, rest,
                                   gaps, flop, bytes);
              };
              time.add(a.time / b.time - 1.0, where);
              energy.add(a.energy / b.energy - 1.0, where);
            };
            models::Activity more = before;
            more.running += seconds(0.1);
            grows(more);
            more.bound[models::kClockAlone] += seconds(0.1);
            grows(more);
            more = before;
            more.gaps += seconds(0.1);
            grows(more);
            more = before;
            more.flop += base::Joules::from_si(10.0);
            grows(more);
            more = before;
            more.bytes += base::Joules::from_si(10.0);
            grows(more);
          }
        }
      }
    }
  }
  ROOFCAST_CHECK_LAW(time);
  ROOFCAST_CHECK_LAW(energy);
}

TEST_CASE("However many SMs a chip has, a server draws more than nothing and at most the limit",
          "[laws]") {
  for (const char* sms : {"132", "1320", "13200", "373160"}) {
    const sim::Scenario s = sim::read_scenario(base::parse_document(
        "test", std::string("system: {base: hgx_h200, chip: {base: h200_sxm, compute: {sms: ") +
                    sms +
                    "}}}\nmodel: llama-3.1-8b\nprecision: fp8\nserving: {stack: vllm}\n"
                    "traffic: {input_tokens: 512, output_tokens: 64, concurrency: 8}\n"));
    sim::Workspace workspace;
    const sim::ServingEstimate e = sim::estimate(sim::view(s), workspace);
    CAPTURE(sms);
    REQUIRE(e.fits());
    CHECK(e.steady.power.si() > 0.0);
    CHECK(e.steady.power <= s.platform.machine.power.limit);
  }
}

TEST_CASE("A GPU that draws less while it idles lowers the power of every server", "[laws]") {
  for (const int clients : {1, 16, 64}) {
    for (const int prompt : {512, 8192}) {
      for (const int answer : {32, 512}) {
        sim::Scenario s = sim::read_scenario(base::parse_document(
            "test", fmt::format("system: hgx_h200\nmodel: llama-3.1-70b\nprecision: fp8\n"
                                "deployment: {{tensor_parallel: 8}}\nserving: {{stack: vllm}}\n"
                                "traffic: {{input_tokens: {}, output_tokens: {}, concurrency: {}}}",
                                prompt, answer, clients)));
        sim::Workspace workspace;
        const base::Watts before = sim::estimate(sim::view(s), workspace).steady.power;
        models::PowerRates& power = s.platform.machine.power;
        power.active -= 0.5 * power.idle;
        power.idle = 0.5 * power.idle;
        power.leakage = 0.5 * power.leakage;
        s.platform.machine.identity = {};
        const base::Watts after = sim::estimate(sim::view(s), workspace).steady.power;
        CAPTURE(clients, prompt, answer, before.si(), after.si());
        CHECK(after < before);
      }
    }
  }
}

TEST_CASE("Energy of a token is the power of all GPUs over their tokens", "[laws][long]") {
  sim::Workspace workspace;
  Violations energy(kRounding);
  Violations bounds(kRounding);
  std::size_t unknown = 0;
  for_each_feasible(9, 94, {1, 7, 64, 500}, [&](const ServingCase& c) {
    const auto e = sim::estimate(c.scenario, workspace);
    const auto& rates = c.scenario.platform->machine.power;
    const auto where = [&] { return c.text(); };
    if (!rates.known()) {
      ++unknown;
      energy.add(std::isnan(e.joules_per_token) ? 0.0 : 1.0, where);
      return;
    }
    const double joules = e.steady.power.si() * static_cast<double>(e.gpus);
    energy.add(std::abs(e.joules_per_token * e.output_rate / joules - 1.0), where);
    bounds.add(e.steady.power / rates.limit - 1.0, where);
    bounds.add(1.0 - e.steady.power / rates.idle, where);
  });
  CHECK(unknown > 0);
  ROOFCAST_CHECK_LAW(energy);
  ROOFCAST_CHECK_LAW(bounds);
}

TEST_CASE("A step's operators and host add up to its time at its clock", "[laws][long]") {
  sim::Workspace workspace;
  Violations sum(1e-9);
  std::size_t slowed = 0;
  for_each_feasible(10, 41, {64}, [&](const ServingCase& c) {
    const auto steady = sim::estimate(c.scenario, workspace).steady;
    const sim::IterationCost step =
        sim::iteration_cost(c.scenario, steady.prefill_iteration, workspace);
    base::Seconds all = step.by_limit[static_cast<std::size_t>(sim::Limit::host)];
    for (const auto& line : sim::iteration_operators(c.scenario, steady.prefill_iteration)) {
      all += line.time;
    }
    base::Seconds limits{};
    for (const base::Seconds part : step.by_limit) {
      limits += part;
    }
    sum.add(std::abs(all / step.latency - 1.0), [&] { return c.text(); });
    sum.add(std::abs(limits / step.latency - 1.0), [&] { return c.text(); });
    slowed += step.clock < 1.0 ? 1U : 0U;
  });
  CHECK(slowed > 0);
  ROOFCAST_CHECK_LAW(sum);
}

}  // namespace
}  // namespace roofcast::laws::laws_power
