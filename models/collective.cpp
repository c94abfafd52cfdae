// SPDX-License-Identifier: Apache-2.0
#include "models/collective.hpp"

#include <algorithm>
#include <cmath>

#include "models/work.hpp"

namespace roofcast::models {
namespace {

using base::Bytes;
using base::Seconds;
using hardware::FabricLevel;
using workloads::CollectiveKind;

// Hops and serialised bytes of one algorithm; the rest of a Cost follows from them.
struct Plan {
  std::string_view algorithm;
  Seconds overhead;  // beyond the launch
  Seconds hops;
  Seconds transfer;
  Seconds total() const { return overhead + hops + transfer; }
};

Plan faster(const Plan& a, const Plan& b) { return b.total() < a.total() ? b : a; }

Plan all_reduce(double n, Bytes size, const FabricLevel& level, bool custom,
                const Machine& machine) {
  const Seconds library = machine.calibration.library_overhead;
  const Seconds alpha = level.latency;
  const Seconds once = size / level.bandwidth;
  Plan best{"ring", library, 2.0 * (n - 1.0) * alpha, 2.0 * (n - 1.0) / n * once};
  best = faster(best, {"tree", library, 2.0 * std::ceil(std::log2(n)) * alpha, 2.0 * once});
  if (level.in_network_reduction) {
    best = faster(best, {"in-switch", library + machine.calibration.in_network_overhead,
                         2.0 * alpha, once / machine.calibration.in_network_efficiency});
  }
  if (custom && level.peer_access) {
    const Seconds shot = once / machine.calibration.custom_efficiency;
    best = faster(best, {"one-shot", {}, 4.0 * alpha, (n - 1.0) * shot});
    best = faster(best, {"two-shot", {}, 8.0 * alpha, 2.0 * (n - 1.0) / n * shot});
  }
  return best;
}

Plan gather_or_scatter(double n, Bytes size, const FabricLevel& level, const Machine& machine) {
  return {"ring", machine.calibration.library_overhead, (n - 1.0) * level.latency,
          (n - 1.0) / n * (size / level.bandwidth)};
}

Plan one_level(const workloads::Collective& op, double n, Bytes size, const FabricLevel& level,
               const Machine& machine) {
  const Seconds library = machine.calibration.library_overhead;
  switch (op.kind) {
    case CollectiveKind::all_reduce:
      return all_reduce(n, size, level, op.custom, machine);
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
      return gather_or_scatter(n, size, level, machine);
    case CollectiveKind::all_to_all:
      return {"direct", library, level.latency, (n - 1.0) / n * (size / level.bandwidth)};
    case CollectiveKind::send_receive:
      return {"direct", library, level.latency, size / level.bandwidth};
  }
  return {};
}

// `inside` ranks of each domain, `domains` of them.
Plan two_levels(const workloads::Collective& op, double inside, double domains, const Machine& m) {
  const Bytes size = Bytes::from_si(op.bytes);
  const Bytes shard = size / inside;
  const auto join = [](std::string_view name, const Plan& a, const Plan& b) {
    return Plan{name, a.overhead, a.hops + b.hops, a.transfer + b.transfer};
  };
  switch (op.kind) {
    case CollectiveKind::all_reduce: {
      const Plan within = gather_or_scatter(inside, size, m.scale_up, m);
      const Plan both = join("hierarchical", within, within);
      return join("hierarchical", both, all_reduce(domains, shard, m.scale_out, false, m));
    }
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
      return join("hierarchical", gather_or_scatter(inside, size, m.scale_up, m),
                  gather_or_scatter(domains, shard, m.scale_out, m));
    case CollectiveKind::all_to_all: {
      const double ranks = inside * domains;
      const Seconds library = m.calibration.library_overhead;
      const Seconds hops = m.scale_up.latency + m.scale_out.latency;
      const Seconds within = (inside - 1.0) / ranks * (size / m.scale_up.bandwidth);
      const Seconds across = (ranks - inside) / ranks * (size / m.scale_out.bandwidth);
      const Plan direct{"direct", library, hops, base::max(within, across)};
      // One copy crosses to each other domain that wants the row, and fans out there.
      const auto copies = static_cast<double>(op.copies);
      const double reached =
          (domains - 1.0) * (1.0 - std::pow(1.0 - 1.0 / domains, copies)) / copies;
      const Seconds once = reached * (size / m.scale_out.bandwidth);
      const Seconds fan_out = (inside - 1.0) / inside * (size / m.scale_up.bandwidth);
      return faster(direct, {"deduplicated", library + m.calibration.deduplication_overhead, hops,
                             base::max(fan_out, once)});
    }
    case CollectiveKind::send_receive:
      return one_level(op, 2.0, size, m.scale_out, m);
  }
  return {};
}

}  // namespace

Cost collective_cost(const workloads::Collective& op, const Machine& machine) {
  Cost cost;
  if (op.ranks <= 1) {
    return cost;
  }
  const std::int64_t reach = machine.scale_up_domain / op.stride;  // ranks of the group in a domain
  const std::int64_t inside = std::clamp<std::int64_t>(reach, 1, op.ranks);
  const std::int64_t domains = (op.ranks + inside - 1) / inside;
  const Plan plan = domains == 1 ? one_level(op, static_cast<double>(op.ranks),
                                             Bytes::from_si(op.bytes), machine.scale_up, machine)
                                 : two_levels(op, static_cast<double>(inside),
                                              static_cast<double>(domains), machine);
  cost.launch = machine.calibration.launch + plan.overhead;
  cost.fill = plan.hops;
  cost.network = plan.transfer;
  cost.message_bytes = collective_work(op).message;
  cost.algorithm = plan.algorithm;
  combine(cost, machine.calibration.overlap_exponent);
  return cost;
}

}  // namespace roofcast::models
