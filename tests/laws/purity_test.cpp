// SPDX-License-Identifier: Apache-2.0
//
// Results depend on their inputs and on nothing else; one GPU talks to nobody.
#include <cstring>
#include <thread>
#include <vector>

#include "tests/catch.hpp"
#include "tests/laws/cases/serving_cases.hpp"
#include "tests/laws/cases/violations.hpp"

namespace roofcast::laws::laws_purity {
namespace {

std::vector<double> every_time() {
  std::vector<double> times;
  for (const auto& p : platforms()) {
    for (const auto& op : operators()) {
      if (runs_on(op, p)) {
        times.push_back(models::cost_of(op, p.machine).time.si());
      }
    }
  }
  sim::Workspace workspace;
  for_each_feasible(0, 37, {1, 64}, [&](const ServingCase& c) {
    const auto s = sim::estimate(c.scenario, workspace).steady;
    times.push_back(s.ttft_mean.si());
    times.push_back(s.tpot.si());
    times.push_back(s.requests_per_second);
  });
  return times;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

TEST_CASE("The same question has the same answer, bit for bit, in every thread", "[laws]") {
  const std::vector<double> once = every_time();
  std::vector<double> first;
  std::vector<double> second;
  std::thread one([&] { first = every_time(); });
  std::thread other([&] { second = every_time(); });
  one.join();
  other.join();
  CHECK(once.size() > 10000);
  CHECK(same_bits(once, first));
  CHECK(same_bits(once, second));
}

// A workspace is scratch space: what an estimate finds in it does not matter.
TEST_CASE("An estimate does not depend on the one before it", "[laws]") {
  sim::Workspace used;
  Violations law(0.0);
  for_each_feasible(1, 29, {1, 300}, [&](const ServingCase& c) {
    sim::Workspace fresh;
    const auto a = sim::estimate(c.scenario, fresh).steady;
    const auto b = sim::estimate(c.scenario, used).steady;
    const bool same = a.ttft_mean == b.ttft_mean && a.tpot == b.tpot &&
                      a.requests_per_second == b.requests_per_second;
    law.add(same ? 0.0 : 1.0, [&] { return c.text(); });
  });
  ROOFCAST_CHECK_LAW(law);
}

TEST_CASE("One GPU runs no collective, and a group of one costs nothing", "[laws]") {
  workloads::Graph graph;
  for (const auto& m : models()) {
    for (const auto& p : precisions()) {
      for (const auto& batch : batches()) {
        const workloads::Fusion fusion{workloads::QuantiseFusion::none,
                                       workloads::AllReduceKernels::barriers};
        workloads::build_graph(m, p, {}, fusion, batch, graph);
        for (const auto& call : graph) {
          CHECK_FALSE(std::holds_alternative<workloads::Collective>(call.op));
        }
      }
    }
  }
  for (const auto& p : platforms()) {
    for (const auto kind :
         {workloads::CollectiveKind::all_reduce, workloads::CollectiveKind::all_gather,
          workloads::CollectiveKind::reduce_scatter, workloads::CollectiveKind::all_to_all,
          workloads::CollectiveKind::broadcast, workloads::CollectiveKind::send_receive}) {
      const workloads::Collective alone{kind, 1e9, 1, 1, workloads::AllReduceKernels::barriers};
      CHECK(models::cost_of(alone, p.machine).time.si() == 0.0);
    }
  }
}

}  // namespace
}  // namespace roofcast::laws::laws_purity
