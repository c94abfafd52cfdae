// SPDX-License-Identifier: Apache-2.0
//
// Collectives across hosts: more hosts, a slower network and a narrower spine never help.
#include "tests/catch.hpp"
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

}  // namespace

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
