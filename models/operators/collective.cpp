// SPDX-License-Identifier: Apache-2.0
#include "models/operators/collective.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/integers.hpp"
#include "models/operators/anatomy.hpp"
#include "models/work.hpp"

namespace roofcast::models {
namespace {

using base::Bytes;
using base::BytesPerSecond;
using base::Seconds;
using hardware::kProtocols;
using workloads::AllReduceKernels;
using workloads::Collective;
using workloads::CollectiveKind;

// The chips of a host are a chain in NCCL's trees. Larger domains join hosts of at most this many chips.
constexpr std::int64_t kHostChips = 8;
// Kernels with barriers exist for at most this many ranks: they hold a pointer to the memory of each.
constexpr std::int64_t kBarrierRanks = 8;

using Protocols = std::array<Algorithm, kProtocols>;
constexpr Protocols kRing = {Algorithm::ring_ll, Algorithm::ring_ll128, Algorithm::ring_simple};
constexpr Protocols kTree = {Algorithm::tree_ll, Algorithm::tree_ll128, Algorithm::tree_simple};
// The library has no LL128 between pairs of ranks.
constexpr Protocols kDirect = {Algorithm::direct_ll, Algorithm::none, Algorithm::direct_simple};
constexpr std::size_t kLl128 = 1;
constexpr std::size_t kSimple = 2;

// Keeps the fastest of the plans that are added, and the second fastest. With `all` it keeps each.
class Offers {
 public:
  explicit Offers(std::vector<Plan>* all) : all_(all) {}
  void add(const Plan& plan) {
    const Seconds total = plan.total();
    if (all_ != nullptr) {
      all_->push_back(plan);
    }
    if (total < least) {
      runner_up = best.algorithm;
      runner_up_total = least;
      best = plan;
      least = total;
    } else if (total < runner_up_total) {
      runner_up = plan.algorithm;
      runner_up_total = total;
    }
  }
  Plan best;
  Algorithm runner_up = Algorithm::none;
  Seconds runner_up_total = Seconds::infinity();
  Seconds least = Seconds::infinity();

 private:
  std::vector<Plan>* all_;
};

// Hops, and bytes through the port of one rank, inside a domain (up) and across domains (out). Posts are hops that no
// protocol delays.
struct Route {
  double up_hops = 0.0;
  double out_hops = 0.0;
  Bytes up;
  Bytes out;
  double up_posts = 0.0;
  double out_posts = 0.0;
  bool tree = false;
};

// `inside` ranks in each of `domains` scale-up domains.
struct Group {
  std::int64_t inside = 1;
  std::int64_t domains = 1;
  double i() const { return static_cast<double>(inside); }
  double d() const { return static_cast<double>(domains); }
  double n() const { return i() * d(); }
  bool leaves() const { return domains > 1; }
};

double log2_up(std::int64_t n) {
  return static_cast<double>(std::bit_width(static_cast<std::uint64_t>(n - 1)));
}

Seconds over(Bytes bytes, BytesPerSecond rate) {
  return bytes.si() > 0.0 ? bytes / rate : Seconds{};
}

// L, and L + L'.
Seconds library(const Machine& m) { return m.calibration.start_trips * m.dram_latency; }
Seconds in_network(const Machine& m) { return library(m) + m.calibration.in_network_overhead; }

// η·B: the rate of a level whose switches reduce.
BytesPerSecond reducing(const hardware::FabricLevel& level, const Machine& m) {
  return level.bandwidth * m.calibration.in_network_efficiency;
}

// α·h + w: one hop across domains.
Seconds out_hop(const hardware::Protocol& protocol, const Machine& m) {
  return protocol.scale_out_hop * m.scale_out.latency + protocol.scale_out_wait;
}

// The NIC as the stack's own kernels use it.
BytesPerSecond custom_nic(const Machine& m) {
  return m.scale_out.bandwidth *
         (m.calibration.custom_nic_efficiency / m.calibration.nic_efficiency);
}

// Adds one algorithm of the library with each of its protocols.
//
// up, out  s  one hop inside a domain and across domains
void add_protocols(Offers& offers, const Protocols& algorithms, const Route& route,
                   const Machine& m) {
  const Seconds start = library(m);
  for (std::size_t p = 0; p < kProtocols; ++p) {
    if (algorithms[p] == Algorithm::none || (p == kLl128 && !m.scale_up.peer_access)) {
      continue;
    }
    const hardware::Protocol& protocol = m.calibration.protocols[p];
    const Seconds up = protocol.scale_up_hop * m.scale_up.latency;
    const Seconds out = out_hop(protocol, m) + (route.tree ? protocol.tree_wait : Seconds{});
    const Seconds through = over(route.up, m.scale_up.bandwidth) / protocol.bandwidth;
    const Seconds across = over(route.out, m.scale_out.bandwidth) / protocol.scale_out_bandwidth;
    offers.add({.algorithm = algorithms[p],
                .overhead = protocol.overhead * start,
                .hops = route.up_hops * up + route.up_posts * m.scale_up.latency +
                        route.out_hops * out + route.out_posts * m.scale_out.latency,
                .transfer = base::max(through, across),
                .leaves = across > through});
  }
}

// alpha  s  α
// shot   s  S / (e·B): the vector once through the port
// peer   s  S / (W/α): the vector from one peer
void add_custom_all_reduce(Offers& offers, AllReduceKernels kernels, double n, Bytes size,
                           const Machine& m) {
  const Seconds alpha = m.scale_up.latency;
  const Seconds shot = size / (m.scale_up.bandwidth * m.calibration.custom_efficiency);
  if (kernels == AllReduceKernels::flags) {
    offers.add({Algorithm::one_shot, {}, 2.0 * alpha, (n - 1.0) * shot});
    offers.add({Algorithm::two_shot, {}, 8.0 * alpha, 2.0 * (n - 1.0) / n * shot});
    return;
  }
  // The bytes of one peer arrive no faster than the loads in flight allow (Little's law).
  const Seconds peer = size / m.calibration.custom_in_flight * alpha;
  const Seconds waiting = base::max(Seconds{}, peer - shot);
  offers.add({Algorithm::one_shot,
              {},
              4.0 * alpha,
              base::max((n - 1.0) * shot, peer),
              base::max(Seconds{}, peer - (n - 1.0) * shot)});
  offers.add({Algorithm::two_shot,
              {},
              8.0 * alpha,
              2.0 * (n - 1.0) / n * base::max(shot, peer),
              2.0 * (n - 1.0) / n * waiting});
  if (m.scale_up.in_network_reduction) {
    offers.add({Algorithm::multimem, {}, 8.0 * alpha, shot / m.calibration.in_network_efficiency});
  }
}

// What one rank sends across domains of double binary trees, for each byte of its shard. A domain is inside one of the
// two trees, with at most two children and a parent, and a leaf of the other: 2. Two domains are the root of one tree
// and the leaf of the other: 1. Three: 3/2.
double tree_share(const Group& g) { return std::min(2.0, g.d() / 2.0); }

// shard   B  S/i: the part of the vector that one rank of a domain carries across
// copied  –  2(n−1) + c
// host    –  ranks of a chain
// chain   –  hops inside a domain on the way up a tree
// across  B  what a rank sends to other domains of a tree
// inside  s  transfer inside a domain with or without switches that reduce
void all_reduce(Offers& offers, const Group& g, Bytes size, AllReduceKernels kernels,
                const Machine& m) {
  const Bytes shard = size / g.i();
  const bool pairs = g.inside > 1;
  const double copied = 2.0 * (g.n() - 1.0) + m.calibration.staging_copy;
  add_protocols(
      offers, kRing,
      {2.0 * g.d() * (g.i() - 1.0), 2.0 * (g.d() - 1.0), pairs ? copied / g.n() * size : Bytes{},
       g.leaves() ? 2.0 * (g.n() - 1.0) / g.n() * shard : Bytes{}},
      m);
  const Bytes across = g.leaves() ? tree_share(g) * shard : Bytes{};
  if (g.leaves() || g.inside > kHostChips) {
    const std::int64_t host = std::min(g.inside, kHostChips);
    const double chain = static_cast<double>(host - 1) + log2_up(base::ceil_div(g.inside, host));
    add_protocols(offers, kTree,
                  {.up_hops = 2.0 * chain,
                   .out_hops = 2.0 * log2_up(g.domains),
                   .up = pairs ? 2.0 * size : Bytes{},
                   .out = across,
                   .tree = true},
                  m);
  }
  const bool switches = m.scale_up.in_network_reduction && pairs;
  const Seconds inside = switches ? size / reducing(m.scale_up, m)
                                  : over(2.0 * (g.i() - 1.0) / g.i() * size, m.scale_up.bandwidth);
  const Seconds up_hops = pairs ? 2.0 * m.scale_up.latency : Seconds{};
  if (switches && !g.leaves()) {
    offers.add({Algorithm::in_switch, in_network(m), up_hops, inside});
  }
  if (switches && g.leaves() && g.inside <= kHostChips) {
    const Seconds outside = across / m.scale_out.bandwidth;
    offers.add(
        {.algorithm = Algorithm::in_switch_tree,
         .overhead = in_network(m),
         .hops = up_hops + 2.0 * log2_up(g.domains) * out_hop(m.calibration.protocols[kSimple], m),
         .transfer = base::max(inside, outside),
         .leaves = outside > inside});
  }
  if (m.scale_out.in_network_reduction && g.leaves()) {
    const Seconds outside = shard / reducing(m.scale_out, m);
    offers.add({.algorithm = Algorithm::in_network,
                .overhead = in_network(m),
                .hops = up_hops + 2.0 * m.scale_out.latency,
                .transfer = base::max(inside, outside),
                .leaves = outside > inside});
  }
  const bool fits = kernels == AllReduceKernels::flags ||
                    (kernels == AllReduceKernels::barriers && g.inside <= kBarrierRanks);
  if (fits && m.scale_up.peer_access && !g.leaves()) {
    add_custom_all_reduce(offers, kernels, g.n(), size, m);
  }
}

void gather_or_scatter(Offers& offers, const Group& g, Bytes size, const Machine& m) {
  const Bytes out = g.leaves() ? (g.n() - 1.0) / g.n() * (size / g.i()) : Bytes{};
  const double copied = g.n() - 1.0 + m.calibration.staging_copy;
  add_protocols(
      offers, kRing,
      {g.d() * (g.i() - 1.0), g.d() - 1.0, g.inside > 1 ? copied / g.n() * size : Bytes{}, out}, m);
  if (g.inside == 1) {
    const hardware::Protocol& simple = m.calibration.protocols[kSimple];
    offers.add({.algorithm = Algorithm::pat,
                .overhead = simple.overhead * library(m),
                .hops = log2_up(g.domains) * out_hop(simple, m),
                .transfer = out / (m.scale_out.bandwidth * m.calibration.pat_efficiency),
                .leaves = true});
  } else if (m.scale_up.in_network_reduction && !g.leaves()) {
    offers.add({Algorithm::in_switch, in_network(m), 2.0 * m.scale_up.latency,
                (g.n() - 1.0) / g.n() * size / reducing(m.scale_up, m)});
  }
}

void broadcast(Offers& offers, const Group& g, Bytes size, const Machine& m) {
  const Bytes up = g.inside > 1 ? size : Bytes{};
  const Bytes out = g.leaves() ? size / g.i() : Bytes{};
  add_protocols(offers, kRing, {g.d() * (g.i() - 1.0), g.d() - 1.0, up, out}, m);
}

// r(all): how many of `all` places `copies` random draws reach.
double reached(double all, double copies) {
  return all * (1.0 - std::pow(1.0 - 1.0 / all, copies));
}

// Rows are counted first. They cross once to each other domain that wants them, on their rail, and fan out there, once
// to each rank. The kernels that move them use a few SMs only.
//
// all      B       r(n)/k·S: every row once for each rank that wants it
// up, out  B       through the port of a rank, inside and across
// moved    B       what the kernels of a rank copy; what arrives from another domain is forwarded
// clocks   clocks  of one SM, for all rows and bytes
// kernel   s       the same on the SMs of the kernels
void deduplicated(Offers& offers, const Group& g, const Collective& op, const Machine& m) {
  const hardware::Calibration& c = m.calibration;
  const Bytes size = Bytes::from_si(op.bytes);
  const auto copies = static_cast<double>(op.copies);
  const Bytes all = reached(g.n(), copies) / copies * size;
  const Bytes up = (g.i() - 1.0) / g.i() * all;
  const Bytes out =
      g.leaves() ? (g.d() - 1.0) / g.d() * reached(g.d(), copies) / copies * size : Bytes{};
  const Bytes moved = g.leaves() ? 2.0 * all + out : all;
  const double clocks =
      op.rows * c.deduplicated_row_clocks + moved.si() / c.deduplicated_bytes_per_sm_clock;
  const double sms = std::min(static_cast<double>(op.sms), m.sms);
  const Seconds kernel = clocks / (sms * m.clock);
  const Seconds inside = over(up, m.scale_up.bandwidth);
  const Seconds outside = over(out, custom_nic(m));
  const Seconds links = base::max(inside, outside);
  offers.add({.algorithm = Algorithm::deduplicated,
              .overhead = library(m) + (1.0 + log2_up(g.domains)) * c.deduplication_overhead,
              .hops = m.scale_up.latency + (g.leaves() ? m.scale_out.latency : Seconds{}),
              .transfer = base::max(kernel, links),
              .kernel = base::max(Seconds{}, kernel - links),
              .leaves = outside > inside,
              .sent = up + out});
}

// A staged exchange takes a time for each row of a rank beside the links, and has a fastest pace, whatever a row's bytes and
// ranks: TensorRT-LLM's NVLinkTwoSided on GB200, dispatch of bf16, fp8 and nvfp4 between 2 to 64 ranks
// (ai-dynamo/aiconfigurator@095f58a). NVLinkOneSided has neither.
constexpr Seconds kStagedRow = 15.0 * base::nanosecond;
constexpr Seconds kSlowestRow = 40.0 * base::nanosecond;

// Over rails the library's exchange hands what another position wants to the rank of its own domain that is on that rail,
// and nothing leaves its rail (PXN). Kernels that store rows where receivers read them do not.
//
// kept     –  i−1 + c
// crossing B  for other positions of other domains
// spine    B  what leaves the rail, as the bytes that would take as long on the rail
// placed   B  what `put` stores in other ranks of the domain
void all_to_all(Offers& offers, const Group& g, const Collective& op, const Machine& m) {
  const Bytes size = Bytes::from_si(op.bytes);
  if (op.deduplicated || op.copies > 1) {
    deduplicated(offers, g, op, m);
  }
  if (op.deduplicated) {
    return;
  }
  const auto hops = [](std::int64_t n) { return n > 1 ? 2.0 : 0.0; };
  const auto posts = [](std::int64_t n) { return n > 1 ? log2_up(n) - 1.0 : 0.0; };
  const bool by_library =
      op.custom == AllReduceKernels::library || op.rows == 0.0 || !m.scale_up.peer_access;
  const double kept = g.i() - 1.0 + m.calibration.staging_copy;
  const Bytes crossing = (g.d() - 1.0) * (g.i() - 1.0) / g.n() * size;
  const bool hands_over =
      by_library && m.scale_out.rails && m.scale_up.peer_access && crossing > Bytes{};
  const Bytes up =
      (g.inside > 1 ? kept / g.n() * size : Bytes{}) + (hands_over ? crossing : Bytes{});
  const Bytes spine = hands_over ? Bytes{} : crossing / m.scale_out.off_rail;
  const Bytes out = base::max((g.n() - g.i()) / g.n() * size, spine);
  const Route route{hops(g.inside) + (hands_over ? 1.0 : 0.0),
                    hops(g.domains),
                    up,
                    out,
                    posts(g.inside),
                    posts(g.domains)};
  if (by_library) {
    add_protocols(offers, kDirect, route, m);
    return;
  }
  const Bytes placed = (g.i() - 1.0) / g.n() * size;
  const Seconds inside = over(placed, m.scale_up.bandwidth * m.calibration.exchange_efficiency);
  const Seconds outside = over(out, custom_nic(m));
  const Seconds links = base::max(inside, outside);
  const Seconds transfer =
      op.staged ? base::max(links + op.rows * kStagedRow, op.rows * kSlowestRow) : links;
  offers.add({.algorithm = Algorithm::put,
              .overhead = library(m),
              .hops = (route.up_hops + route.up_posts) * m.scale_up.latency +
                      (route.out_hops + route.out_posts) * m.scale_out.latency,
              .transfer = transfer,
              .leaves = outside > inside});
}

// Adding int8 takes SMs more instructions than half, so rings reach less: median at equal bytes above 1 MB, all NVIDIA
// chips of ai-dynamo/aiconfigurator@095f58a.
constexpr double kInt8Sums = 0.95;

// The links that a group can use. Switches do not add int8.
Machine as_seen_by(const Collective& op, const Group& g, const Machine& machine) {
  Machine m = machine;
  m.scale_up = machine.scale_up.among(g.i());
  if (op.sums_int8) {
    m.scale_up.in_network_reduction = m.scale_out.in_network_reduction = false;
    m.scale_up.bandwidth *= kInt8Sums;
  }
  return m;
}

Offers offers_for(const Collective& op, const Group& g, const Machine& m, std::vector<Plan>* all) {
  const Bytes size = Bytes::from_si(op.bytes);
  Offers offers(all);
  switch (op.kind) {
    case CollectiveKind::all_reduce:
      all_reduce(offers, g, size, op.custom, m);
      break;
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
      gather_or_scatter(offers, g, size, m);
      break;
    case CollectiveKind::all_to_all:
      all_to_all(offers, g, op, m);
      break;
    case CollectiveKind::broadcast:
      broadcast(offers, g, size, m);
      break;
    case CollectiveKind::send_receive:
      add_protocols(offers, kDirect,
                    g.leaves() ? Route{0.0, 1.0, {}, size} : Route{1.0, 0.0, size, {}}, m);
      break;
  }
  return offers;
}

// Ranks that do not fill their domains are spread evenly over them.
Group group_of(const Collective& op, const Machine& machine) {
  const std::int64_t inside = workloads::ranks_in_a_domain(op, machine.scale_up_domain);
  const std::int64_t domains = base::ceil_div(op.ranks, inside);
  return {base::ceil_div(op.ranks, domains), domains};
}

}  // namespace

// Of an all-gather a rank sends little and receives all; of a reduce-scatter it is the other way.
PortBytes least_port_bytes(const Collective& op, const Machine& machine) {
  if (op.ranks <= 1) {
    return {};
  }
  const Group g = group_of(op, machine);
  const Bytes size = Bytes::from_si(op.bytes);
  const double inside = (g.i() - 1.0) / g.i();
  const double outside = (g.d() - 1.0) / g.d();
  PortBytes least;
  switch (op.kind) {
    case CollectiveKind::all_reduce:
      least.link =
          (machine.scale_up.in_network_reduction && g.inside > 1 ? 1.0 : 2.0 * inside) * size;
      least.nic =
          (machine.scale_out.in_network_reduction ? std::min(1.0, 2.0 * outside) : 2.0 * outside) /
          g.i() * size;
      break;
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
      least.link = inside * size;
      least.nic = outside / g.i() * size;
      break;
    case CollectiveKind::all_to_all: {
      const auto copies = static_cast<double>(op.copies);
      least.link = (g.i() - 1.0) / g.n() * reached(g.n(), copies) / copies * size;
      least.nic = outside * reached(g.d(), copies) / copies * size;
      break;
    }
    case CollectiveKind::broadcast:
      least.link = (g.leaves() ? inside : 1.0) * size;
      least.nic = g.leaves() ? size / g.i() : Bytes{};
      break;
    case CollectiveKind::send_receive:
      (g.leaves() ? least.nic : least.link) = size;
      break;
  }
  return least;
}

Cost collective_cost(const Collective& op, const Machine& machine, Anatomy* anatomy) {
  Cost cost;
  if (op.ranks <= 1) {
    return cost;
  }
  const Group group = group_of(op, machine);
  std::vector<Plan>* all = anatomy != nullptr ? &anatomy->plans : nullptr;
  const Offers offers = machine.scale_up.differs_among() || op.sums_int8
                            ? offers_for(op, group, as_seen_by(op, group, machine), all)
                            : offers_for(op, group, machine, all);
  const base::Seconds launch = machine.calibration.launch;
  cost.launch = launch + offers.best.overhead;
  cost.fill = offers.best.hops;
  cost.network = offers.best.transfer;
  cost.message_bytes = offers.best.algorithm == Algorithm::deduplicated
                           ? offers.best.sent
                           : collective_work(op).message;
  cost.algorithm = offers.best.algorithm;
  cost.runner_up = offers.runner_up;
  cost.runner_up_time =
      offers.runner_up == Algorithm::none ? launch : launch + offers.runner_up_total;
  combine(cost, machine.calibration.overlap_exponent);
  if (anatomy != nullptr) {
    std::stable_sort(anatomy->plans.begin(), anatomy->plans.end(),
                     [](const Plan& a, const Plan& b) { return a.total() < b.total(); });
    anatomy->add_plan(offers.best);
  }
  return cost;
}

}  // namespace roofcast::models
