// SPDX-License-Identifier: Apache-2.0
//
// Better hardware never makes anything slower.
#include "tests/laws/cases/resources.hpp"
#include "sim/iteration/iteration.hpp"
#include "tests/catch.hpp"
#include "tests/laws/cases/violations.hpp"
#include "tests/laws/catalog.hpp"

namespace roofcast::laws::laws_resources {
namespace {

constexpr double kFactors[] = {1.03, 1.3, 2.0, 8.0};

TEST_CASE("More of any resource makes no operator slower", "[laws][long]") {
  std::vector<std::vector<base::Seconds>> before;  // by platform and operator
  for (const auto& p : platforms()) {
    std::vector<base::Seconds>& times = before.emplace_back();
    for (const auto& op : operators()) {
      times.push_back(runs_on(op, p) ? models::cost_of(op, p.machine).time : base::Seconds{});
    }
  }
  for (const Resource& resource : kResources) {
    Violations law(1e-9);
    for (std::size_t at = 0; at < platforms().size(); ++at) {
      const auto& p = platforms()[at];
      for (const double factor : kFactors) {
        models::Machine better = p.machine;
        resource.improve(better, factor);
        for (std::size_t i = 0; i < operators().size(); ++i) {
          const auto& op = operators()[i];
          if (runs_on(op, p)) {
            const double excess = models::cost_of(op, better).time / before[at][i] - 1.0;
            law.add(excess, [&] {
              return fmt::format("{} x{} on {}: {}", resource.name, factor, p.system.id,
                                 describe(op));
            });
          }
        }
      }
    }
    ROOFCAST_CHECK_LAW(law);
  }
}

TEST_CASE("More of any resource makes no step slower", "[laws][long]") {
  sim::Workspace workspace;
  const workloads::Traffic traffic{1024, 256, 64, 0};
  for (const Resource& resource : kResources) {
    Violations law(1e-9);
    for (const auto& p : platforms()) {
      sim::Platform better = p;
      resource.improve(better.machine, 1.5);
      for (const auto& m : models()) {
        for (const auto& mapping : mappings(m)) {
          if (mapping.ranks() > p.system.chips) {
            continue;
          }
          const auto& plain = plain_precision(p);
          const sim::ScenarioView before{.platform = &p,
                                         .model = &m,
                                         .precision = &plain,
                                         .mapping = &mapping,
                                         .serving = &servings().front(),
                                         .traffic = &traffic};
          sim::ScenarioView after = before;
          after.platform = &better;
          for (const auto& batch : batches()) {
            const sim::IterationCost a = sim::iteration_cost(before, batch, workspace);
            const sim::IterationCost b = sim::iteration_cost(after, batch, workspace);
            const auto where = [&] {
              return fmt::format("{} on {}: {} {}", resource.name, p.system.id, m.id,
                                 describe(mapping));
            };
            law.add(b.latency / a.latency - 1.0, where);
            law.add(b.period / a.period - 1.0, where);
          }
        }
      }
    }
    ROOFCAST_CHECK_LAW(law);
  }
}

// Rates of the chip, clocks, memory latency and hops; the software's launch and library overheads
// stay. They weigh in the choice of a collective's algorithm, so where it changes the new one must
// be the better one.
TEST_CASE("Twice the rates at half the latencies take half the time", "[laws]") {
  Violations law(1e-12);
  for (const auto& p : platforms()) {
    models::Machine twice = p.machine;
    for (const Resource& resource : kResources) {
      if (resource.name != "kernel launch" && resource.name != "library overhead") {
        resource.improve(twice, 2.0);
      }
    }
    for (const auto& op : operators()) {
      if (!runs_on(op, p)) {
        continue;
      }
      const models::Cost once = models::physical_cost_of(op, p.machine);
      const models::Cost half = models::physical_cost_of(op, twice);
      const auto where = [&] { return p.system.id + ": " + describe(op); };
      if (once.algorithm == half.algorithm) {
        // time − launch loses digits where the body is short beside the launch.
        const double lost = 1e-15 * (once.time / once.body());
        law.add(std::abs(2.0 * half.body() / once.body() - 1.0) - lost, where);
      } else {
        law.add(half.time / (once.launch + once.body() / 2.0) - 1.0, where);
      }
    }
  }
  ROOFCAST_CHECK_LAW(law);
}

}  // namespace
}  // namespace roofcast::laws::laws_resources
