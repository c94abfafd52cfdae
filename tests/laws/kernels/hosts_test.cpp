// SPDX-License-Identifier: Apache-2.0
//
// Collectives across hosts: more hosts, a slower network and a narrower spine never help.
#include "models/operators/explained_cost.hpp"
#include "tests/catch.hpp"
#include "tests/laws/cases/violations.hpp"
#include "tests/laws/catalog.hpp"

namespace roofcast::laws::laws_kernels_hosts {
namespace {

using workloads::Collective;
using workloads::CollectiveKind;

constexpr CollectiveKind kKinds[] = {CollectiveKind::all_reduce, CollectiveKind::all_gather,
                                     CollectiveKind::reduce_scatter};
constexpr double kBytes[] = {1e3, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10};

double collective_s(CollectiveKind kind, double bytes, std::int64_t ranks,
                    const models::Machine& m) {
  return models::cost_of(Collective{kind, bytes, ranks}, m).time.si();
}

// The time of an all-reduce of 8 bytes by each protocol of the library's trees.
std::vector<double> small_trees_s(std::int64_t ranks, const models::Machine& m) {
  models::Anatomy anatomy;
  models::cost_of(Collective{CollectiveKind::all_reduce, 8.0, ranks}, m, anatomy);
  std::vector<double> times(hardware::kProtocols, 0.0);
  for (const models::Plan& plan : anatomy.plans) {
    const std::size_t p = static_cast<std::size_t>(plan.algorithm) -
                          static_cast<std::size_t>(models::Algorithm::tree_ll);
    if (p < times.size()) {
      times[p] = plan.total().si();
    }
  }
  return times;
}

}  // namespace

// Ranks of racks are chains in hosts of eight, whose hosts and racks are trees: eight ranks more are at most one host more in
// a rack, or one rack more, up and down. 80 ranks of two racks of 72 are chains of eight too, not one of 40.
TEST_CASE("A tree over racks takes at most a hop of a host and one across longer for a host more",
          "[laws]") {
  Violations law(1e-3);  // 8 bytes take some time
  for (const sim::Platform& p : platforms()) {
    const models::Machine& m = p.machine;
    if (!p.system.scale_out || p.system.scale_up_domain <= 8) {
      continue;
    }
    std::vector<double> before = small_trees_s(16, m);
    for (std::int64_t ranks = 24; ranks <= p.system.chips; ranks += 8) {
      const std::vector<double> now = small_trees_s(ranks, m);
      for (std::size_t i = 0; i < now.size(); ++i) {
        const hardware::Protocol& protocol = m.calibration.protocols[i];
        const base::Seconds across = protocol.scale_out_hop * m.scale_out.latency +
                                     protocol.scale_out_wait + protocol.tree_wait;
        const base::Seconds inside = protocol.scale_up_hop * m.scale_up.latency;
        const double most = before[i] + 2.0 * (across + inside).si();
        law.add(before[i] > 0.0 ? now[i] / most - 1.0 : 0.0,
                [&] { return fmt::format("{}: {} ranks, protocol {}", p.system.id, ranks, i); });
      }
      before = now;
    }
  }
  ROOFCAST_CHECK_LAW(law);
}

TEST_CASE("A collective over more hosts is never faster", "[laws]") {
  for (const sim::Platform& p : platforms()) {
    const std::int64_t domain = p.system.scale_up_domain;
    for (const CollectiveKind kind : kKinds) {
      for (const double bytes : kBytes) {
        double before = 0.0;
        for (std::int64_t hosts = 2; hosts * domain <= p.system.chips; hosts *= 2) {
          INFO(p.system.id << " " << workloads::name(kind) << " " << bytes << " " << hosts);
          const double time = collective_s(kind, bytes, hosts * domain, p.machine);
          CHECK(time >= before * (1.0 - 1e-9));
          before = time;
        }
      }
    }
  }
}

TEST_CASE("A slower network or a narrower spine never speeds up a collective", "[laws]") {
  for (const sim::Platform& p : platforms()) {
    if (!p.system.scale_out) {
      continue;
    }
    const std::int64_t ranks = std::min(p.system.chips, 4 * p.system.scale_up_domain);
    hardware::System far = p.system;
    far.scale_out->latency *= 3.0;
    hardware::System narrow = p.system;
    narrow.oversubscription *= 4.0;
    const models::Machine usual = models::machine_of(p.system);
    const models::Machine slower[] = {models::machine_of(far), models::machine_of(narrow)};
    for (const CollectiveKind kind : kKinds) {
      for (const double bytes : kBytes) {
        INFO(p.system.id << " " << workloads::name(kind) << " " << bytes);
        const double time = collective_s(kind, bytes, ranks, usual);
        CHECK(collective_s(kind, bytes, ranks, slower[0]) >= time);
        CHECK(collective_s(kind, bytes, ranks, slower[1]) >= time);
      }
    }
  }
}

}  // namespace roofcast::laws::laws_kernels_hosts
