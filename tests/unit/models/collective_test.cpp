// SPDX-License-Identifier: Apache-2.0
#include "models/operators/collective.hpp"

#include <algorithm>

#include "tests/catch.hpp"
#include "tests/unit/models/round_machine.hpp"

namespace roofcast::unit_models_collective {

using models::Cost;
using models::Machine;
using workloads::AllReduceKernels;
using workloads::CollectiveKind;

namespace {

constexpr auto kLibrary = AllReduceKernels::library;
constexpr auto kBarriers = AllReduceKernels::barriers;
constexpr auto kFlags = AllReduceKernels::flags;

double us(base::Seconds t) { return t / base::microsecond; }

// All of eight chips in one domain: B = 100 GB/s, α = 1 us, L = 10 us, launch 1 us. The three
// protocols are alike and a ring copies nothing at its end, unless a test says so.
Machine one_domain() {
  Machine m = models::round_machine();
  m.scale_up_domain = 8;
  return m;
}

Cost cost(CollectiveKind kind, double bytes, std::int64_t ranks, const Machine& machine,
          AllReduceKernels custom = kLibrary, std::int64_t stride = 1) {
  return models::collective_cost({kind, bytes, ranks, stride, custom}, machine);
}

double time_us(CollectiveKind kind, double bytes, std::int64_t ranks, const Machine& machine,
               AllReduceKernels custom = kLibrary, std::int64_t stride = 1) {
  return us(cost(kind, bytes, ranks, machine, custom, stride).time);
}

}  // namespace

// S = 1 kB: S/B = 0.01 us. Of 8 ranks
//   one-shot   1 + 4α + 7·0.01 = 5.07     two-shot  1 + 8α + 1.75·0.01 = 9.0175
//   ring       1 + L + 14α + 0.0175 = 25.0175
TEST_CASE("A small all-reduce goes in one shot where the stack has it", "[unit]") {
  const Cost own = cost(CollectiveKind::all_reduce, 1e3, 8, one_domain(), kBarriers);
  CHECK(own.algorithm == models::Algorithm::one_shot);
  CHECK(us(own.time) == Approx(5.07));
  CHECK(us(own.launch) == Approx(1.0));
  CHECK(us(own.fill) == Approx(4.0));
  CHECK(own.runner_up == models::Algorithm::two_shot);
  CHECK(us(own.runner_up_time) == Approx(9.0175));
  const Cost library = cost(CollectiveKind::all_reduce, 1e3, 8, one_domain());
  CHECK(library.algorithm == models::Algorithm::ring_ll);
  CHECK(us(library.time) == Approx(25.0175));
  CHECK(us(library.launch) == Approx(11.0));
}

TEST_CASE("Flags in the data save the barriers around one shot", "[unit]") {
  CHECK(time_us(CollectiveKind::all_reduce, 1e3, 8, one_domain(), kFlags) == Approx(3.07));
}

// S = 1 MB: S/B = 10 us.
//   one-shot 1 + 4 + 70 = 75, two-shot 1 + 8 + 17.5 = 26.5, ring 1 + 10 + 14 + 17.5 = 42.5
TEST_CASE("A middling all-reduce goes in two shots", "[unit]") {
  CHECK(time_us(CollectiveKind::all_reduce, 1e6, 8, one_domain(), kBarriers) == Approx(26.5));
  CHECK(time_us(CollectiveKind::all_reduce, 1e6, 8, one_domain(), kFlags) == Approx(26.5));
}

TEST_CASE("Kernels that read their peers' memory need links that can", "[unit]") {
  Machine m = one_domain();
  m.scale_up.peer_access = false;
  CHECK(time_us(CollectiveKind::all_reduce, 1e6, 8, m, kBarriers) == Approx(42.5));
}

TEST_CASE("Kernels with barriers reach eight ranks", "[unit]") {
  Machine m = one_domain();
  m.scale_up_domain = 72;
  CHECK(cost(CollectiveKind::all_reduce, 1e3, 8, m, kBarriers).algorithm ==
        models::Algorithm::one_shot);
  CHECK(cost(CollectiveKind::all_reduce, 1e3, 16, m, kBarriers).algorithm ==
        models::Algorithm::tree_ll);
  CHECK(cost(CollectiveKind::all_reduce, 1e3, 16, m, kFlags).algorithm ==
        models::Algorithm::one_shot);
}

// 50 kB under way in a hop of 1 us: 50 GB/s from each peer. 100 kB, S/B = 1 us:
//   2 ranks  1 + 4 + max(1, 2)        4 ranks  1 + 4 + max(3·1, 2)
TEST_CASE("Loads under way limit what one peer can send", "[unit]") {
  Machine m = one_domain();
  m.calibration.custom_in_flight = 50e3 * base::byte;
  CHECK(time_us(CollectiveKind::all_reduce, 1e5, 2, m, kBarriers) == Approx(7.0));
  CHECK(time_us(CollectiveKind::all_reduce, 1e5, 4, m, kBarriers) == Approx(8.0));
  CHECK(time_us(CollectiveKind::all_reduce, 1e5, 2, m, kFlags) == Approx(4.0));
}

// S = 1 GB: S/B = 10 ms.
//   ring 1 + 10 + 14 + 17 500, in-switch 1 + 10 + 2 + 10 000 / 0.8
TEST_CASE("A large all-reduce goes round the ring, or through a switch that adds", "[unit]") {
  Machine m = one_domain();
  CHECK(time_us(CollectiveKind::all_reduce, 1e9, 8, m) == Approx(17525.0));
  m.scale_up.in_network_reduction = true;
  m.calibration.in_network_efficiency = 0.8;
  const Cost added = cost(CollectiveKind::all_reduce, 1e9, 8, m);
  CHECK(added.algorithm == models::Algorithm::in_switch);
  CHECK(us(added.time) == Approx(12513.0));
  // What a rank must send is the same for every algorithm, by definition.
  CHECK(added.message_bytes.si() == Approx(1.75e9));
  // The stack's own kernel spares the library's start, for barriers.
  const Cost own = cost(CollectiveKind::all_reduce, 1e9, 8, m, kBarriers);
  CHECK(own.algorithm == models::Algorithm::multimem);
  CHECK(us(own.time) == Approx(12509.0));
}

TEST_CASE("Sums of int8 go round the ring, past switches that would add half", "[unit]") {
  Machine m = one_domain();
  m.scale_up.in_network_reduction = true;
  m.calibration.in_network_efficiency = 0.8;
  workloads::Collective op{CollectiveKind::all_reduce, 1e9, 8};
  op.sums_int8 = true;
  const Cost narrow = models::collective_cost(op, m);
  CHECK(narrow.algorithm == models::Algorithm::ring_ll);  // first of three that are alike here
  CHECK(us(narrow.time) == Approx(25.0 + 17500.0 / 0.95));
}

TEST_CASE("The choice between algorithms never takes the slower one", "[unit]") {
  Machine m = one_domain();
  m.scale_up.in_network_reduction = true;
  for (double bytes = 1e2; bytes < 1e10; bytes *= 1.7) {
    for (const std::int64_t n : {2, 4, 8}) {
      const auto ranks = static_cast<double>(n);
      const double once = bytes / 1e11 * 1e6;
      const double ring = 11.0 + 2.0 * (ranks - 1.0) + 2.0 * (ranks - 1.0) / ranks * once;
      const double in_switch = 13.0 + once / 0.5;
      const double two_shot = 9.0 + 2.0 * (ranks - 1.0) / ranks * once;
      const double one_shot = 5.0 + (ranks - 1.0) * once;
      const double best = std::min({ring, in_switch, two_shot, one_shot});
      const Cost taken = cost(CollectiveKind::all_reduce, bytes, n, m, kBarriers);
      CHECK(us(taken.time) <= best * (1.0 + 1e-12));
      CHECK(taken.runner_up_time.si() >= taken.time.si() * (1.0 - 1e-12));
    }
  }
}

// 8 ranks, x = 7/8·S/B:
//   LL 1 + 10 + 7 + x/0.5, LL128 1 + 20 + 14 + x/0.9, Simple 1 + 15 + 28 + x
TEST_CASE("Small messages pay for flags with bandwidth, large ones for fences with time",
          "[unit]") {
  Machine m = one_domain();
  m.calibration.protocols = {{{1.0, 1.0, 1.0, 0.5, 1.0, {}, {}},
                              {2.0, 2.0, 2.0, 0.9, 1.0, {}, {}},
                              {1.5, 4.0, 4.0, 1.0, 1.0, {}, {}}}};
  const auto gather = [&](double x) {
    return cost(CollectiveKind::all_gather, x * 8.0 / 7.0 * 1e5, 8, m);
  };
  CHECK(gather(10.0).algorithm == models::Algorithm::ring_ll);
  CHECK(us(gather(10.0).time) == Approx(38.0));
  CHECK(gather(45.0).algorithm == models::Algorithm::ring_ll128);
  CHECK(us(gather(45.0).time) == Approx(85.0));
  CHECK(gather(1000.0).algorithm == models::Algorithm::ring_simple);
  CHECK(us(gather(1000.0).time) == Approx(1044.0));
  m.scale_up.peer_access = false;  // LL128 needs the 128-byte stores of NVLink
  CHECK(us(gather(45.0).time) == Approx(89.0));
}

// Half a step more: all-gather (n−1 + ½)/n, all-reduce (2(n−1) + ½)/n of 10 ms.
TEST_CASE("The last step of a ring copies out of the library's buffer", "[unit]") {
  Machine m = one_domain();
  m.calibration.staging_copy = 0.5;
  CHECK(time_us(CollectiveKind::all_gather, 1e9, 2, m) == Approx(12.0 + 7500.0));
  CHECK(time_us(CollectiveKind::all_gather, 1e9, 8, m) == Approx(18.0 + 9375.0));
  CHECK(time_us(CollectiveKind::all_reduce, 1e9, 2, m) == Approx(13.0 + 12500.0));
}

// 800 MB and 8 ranks: 7/8 of it leave every rank, 7 ms. all-gather and reduce-scatter make 7 hops,
// all-to-all 2 and log₂8 − 1 for posting.
TEST_CASE("Gathers and scatters move what a rank does not have", "[unit]") {
  CHECK(time_us(CollectiveKind::all_gather, 8e8, 8, one_domain()) == Approx(7018.0));
  CHECK(time_us(CollectiveKind::reduce_scatter, 8e8, 8, one_domain()) == Approx(7018.0));
  CHECK(time_us(CollectiveKind::all_to_all, 8e8, 8, one_domain()) == Approx(7015.0));
  CHECK(time_us(CollectiveKind::send_receive, 8e8, 2, one_domain()) == Approx(8012.0));
}

// 8 ranks: 1 + 10 + 7 + S/B. The library has no tree and no in-switch broadcast (NVIDIA/nccl, src/tuning/tree.cc and nvls.cc).
TEST_CASE("A broadcast goes round a ring whatever its size, also where switches reduce", "[unit]") {
  Machine m = one_domain();
  CHECK(cost(CollectiveKind::broadcast, 1e3, 8, m).algorithm == models::Algorithm::ring_ll);
  CHECK(time_us(CollectiveKind::broadcast, 1e3, 8, m) == Approx(18.01));
  CHECK(cost(CollectiveKind::broadcast, 8e8, 8, m).algorithm == models::Algorithm::ring_ll);
  CHECK(time_us(CollectiveKind::broadcast, 8e8, 8, m) == Approx(8018.0));
  m.scale_up.in_network_reduction = true;
  CHECK(cost(CollectiveKind::broadcast, 1e3, 8, m).algorithm == models::Algorithm::ring_ll);
  CHECK(time_us(CollectiveKind::broadcast, 8e8, 8, m) == Approx(8018.0));
  // Two domains of four: 2·3 + 5 us of hops; a NIC carries a quarter, at 10 GB/s.
  CHECK(time_us(CollectiveKind::broadcast, 8e8, 8, models::round_machine()) == Approx(20022.0));
}

// Two domains of four, 1 GB. S/B = 10 ms inside; across, the shard of 250 MB at 10 GB/s = 25 ms, 5 us
// a hop. One pipeline: the slower level counts. Of two trees each domain is the root of one and the leaf of the other.
//   all-reduce   tree 1 + 10 + (2·3 + 2·5) + max(2·10, 25 ms); ring 1 + 10 + (2·2·3 + 2·5) + max(2·7/8·10, 2·7/8·25 ms)
//   all-gather   1 + 10 + (2·3 + 5) + max(7/8·10, 7/8·25 ms)
//   all-to-all   1 + 10 + (2+1 + 2·5) + max(3/8·10, 4/8·100 ms)
TEST_CASE("Ranks that span domains use both levels of the fabric at once", "[unit]") {
  const Machine m = models::round_machine();
  CHECK(time_us(CollectiveKind::all_reduce, 1e9, 8, m, kBarriers) == Approx(25027.0));
  CHECK(time_us(CollectiveKind::all_gather, 1e9, 8, m) == Approx(21897.0));
  CHECK(time_us(CollectiveKind::reduce_scatter, 1e9, 8, m) == Approx(21897.0));
  CHECK(time_us(CollectiveKind::all_to_all, 1e9, 8, m) == Approx(50024.0));
  // Four ranks, two apart, span two domains of four: 2 inside, 2 domains.
  //   all-gather   1 + 10 + (2·1 + 5) + max(3/4·10, 3/4·50 ms)
  CHECK(time_us(CollectiveKind::all_gather, 1e9, 4, m, kLibrary, 2) == Approx(37518.0));
}

// 1 kB over eight domains of four: ring 2·8·3 + 2·7·5 = 118 us of hops; tree, a chain of three hops
// inside and log₂8 across, 2·3 + 2·3·5 = 36; with switches that reduce 2 + 30; in the network 2 + 10.
TEST_CASE("Small all-reduces cross many domains by trees, or in the network", "[unit]") {
  Machine m = models::round_machine();
  const auto small = [&] { return cost(CollectiveKind::all_reduce, 1e3, 32, m); };
  CHECK(small().algorithm == models::Algorithm::tree_ll);
  CHECK(us(small().fill) == Approx(36.0));
  m.scale_up.in_network_reduction = true;
  CHECK(small().algorithm == models::Algorithm::in_switch_tree);
  CHECK(us(small().fill) == Approx(32.0));
  m.scale_out.in_network_reduction = true;
  CHECK(small().algorithm == models::Algorithm::in_network);
  CHECK(us(small().fill) == Approx(12.0));
  // 1 GB: a ring sends 2·31/32 of the shard of 250 MB at 10 GB/s; in the network it crosses once at half of that, 50 ms.
  CHECK(us(cost(CollectiveKind::all_reduce, 1e9, 32, m).network) == Approx(48437.5));
  m.calibration.in_network_efficiency = 1.0;
  CHECK(us(cost(CollectiveKind::all_reduce, 1e9, 32, m).network) == Approx(25000.0));
}

// 1 GB between d domains of four whose ranks share 100 GB/s and 10 GB/s: trees send 25 ms · d/2, at most twice 25 ms.
TEST_CASE("Trees of two domains send half of what those of many send", "[unit]") {
  const Machine m = models::round_machine();
  const auto all_reduce = [&](std::int64_t domains) {
    return cost(CollectiveKind::all_reduce, 1e9, 4 * domains, m);
  };
  CHECK(all_reduce(2).algorithm == models::Algorithm::tree_ll);
  CHECK(us(all_reduce(2).network) == Approx(25000.0));
  CHECK(all_reduce(3).algorithm == models::Algorithm::tree_ll);
  CHECK(us(all_reduce(3).network) == Approx(37500.0));
  CHECK(all_reduce(4).algorithm == models::Algorithm::ring_ll);
  CHECK(us(all_reduce(4).network) == Approx(46875.0));
}

// 8 B of two domains of four, in a protocol whose hops across take 2·5 + 3 us and 4 us more in trees: ring 1 + 10 + 2·2·3 +
// 2·13, tree 1 + 10 + 2·3 + 2·17 us.
TEST_CASE("Hops across domains wait for the network's proxies", "[unit]") {
  Machine m = models::round_machine();
  for (hardware::Protocol& protocol : m.calibration.protocols) {
    protocol.scale_out_hop = 2.0;
    protocol.scale_out_wait = 3.0 * base::microsecond;
    protocol.tree_wait = 4.0 * base::microsecond;
  }
  CHECK(time_us(CollectiveKind::all_reduce, 8, 8, m) == Approx(49.0).epsilon(1e-3));
  // All-gather: 1 + 10 + 2·3 + 13. Inside one domain nothing waits: 1 + 10 + 3.
  CHECK(time_us(CollectiveKind::all_gather, 8, 8, m) == Approx(30.0).epsilon(1e-3));
  CHECK(time_us(CollectiveKind::all_gather, 8, 4, m) == Approx(14.0).epsilon(1e-3));
  // 1 GB at a tenth of the NIC in LL: another protocol is taken.
  m.calibration.protocols[0].scale_out_bandwidth = 0.1;
  CHECK(cost(CollectiveKind::all_reduce, 1e9, 8, m).algorithm == models::Algorithm::tree_ll128);
}

// Eight domains, one rank in each: ring 7·5, PAT 3·5 us of hops, at ¾ of the NIC.
TEST_CASE("One rank a domain gathers by aggregated trees when small", "[unit]") {
  Machine m = models::round_machine();
  m.calibration.pat_efficiency = 0.75;
  const auto gather = [&](double bytes) {
    return cost(CollectiveKind::all_gather, bytes, 8, m, kLibrary, 4);
  };
  CHECK(gather(1e3).algorithm == models::Algorithm::pat);
  CHECK(us(gather(1e3).time) == Approx(26.0 + 0.0875 / 0.75));
  CHECK(gather(1e9).algorithm == models::Algorithm::ring_ll);
  CHECK(us(gather(1e9).time) == Approx(46.0 + 87500.0));
}

// 1 GB of rows to 4 random ranks of two domains of four: a row crosses with probability 1 − (1/2)^4, so
// (15/16)/4 of the bytes go out: 23 437.5 us at 10 GB/s, after 1 + 10 + 2·100 + 6 us. Sending every copy
// takes 50 000 us; of a small message the setup is not worth it.
TEST_CASE("A row that several ranks of a domain want crosses to it once when that is quicker",
          "[unit]") {
  const Machine m = models::round_machine();
  const auto all_to_all = [&](double bytes, std::int64_t copies) {
    return models::collective_cost({CollectiveKind::all_to_all, bytes, 8, 1, kLibrary, copies}, m);
  };
  const auto large = all_to_all(1e9, 4);
  CHECK(large.time / base::microsecond == Approx(23654.5));
  CHECK(large.algorithm == models::Algorithm::deduplicated);
  CHECK(all_to_all(1e4, 4).algorithm == models::Algorithm::direct_ll);
  CHECK(all_to_all(1e9, 1).algorithm == models::Algorithm::direct_ll);
}

// 1 GB of one copy to eight ranks, four of them in each domain: half of it crosses at 10 GB/s, 50 000 us,
// after 1 + 10 + (2 + 1)·1 + 2·5 us. The library's fastest protocol is as fast with much, a put always.
TEST_CASE("A stack's own kernels exchange rows without the library's protocols", "[unit]") {
  const Machine m = models::round_machine();
  workloads::Collective op{CollectiveKind::all_to_all, 1e9, 8, 1, kLibrary, 1};
  op.rows = 1e6;
  CHECK(models::collective_cost(op, m).algorithm == models::Algorithm::direct_ll);
  op.custom = workloads::AllReduceKernels::flags;
  const auto put = models::collective_cost(op, m);
  CHECK(put.algorithm == models::Algorithm::put);
  CHECK(us(put.time) == Approx(24.0 + 50000.0));
  op.rows = 0.0;  // no exchange of experts
  CHECK(models::collective_cost(op, m).algorithm == models::Algorithm::direct_ll);
}

// 2 GB to four ranks of one domain: three quarters at half of 100 GB/s, 30 000 us, and 15 ns more for each of a million
// staged rows. A thousand bytes take no time, but 40 ns a row.
TEST_CASE("An exchange reaches its share of the port, and staged rows have a pace of their own",
          "[unit]") {
  Machine m = models::round_machine();
  m.calibration.exchange_efficiency = 0.5;
  workloads::Collective op{CollectiveKind::all_to_all, 2e9, 4, 1, kLibrary, 1};
  op.rows = 1e6;
  op.custom = workloads::AllReduceKernels::flags;
  const auto time = [&] { return us(models::collective_cost(op, m).time); };
  CHECK(time() == Approx(14.0 + 30000.0));
  op.staged = true;
  CHECK(time() == Approx(14.0 + 30000.0 + 15000.0));
  op.bytes = 1000.0;
  CHECK(time() == Approx(14.0 + 40000.0));
}

// 1 GB of rows to 4 random ranks of one domain of four: 4·(1 − (3/4)^4) = 175/64 of them are reached, three
// quarters elsewhere, so 0.75·175/256 GB at 100 GB/s = 5126.95 us after 1 + 10 + 100 + 1 us. Kernels on 20 SMs of
// 1 GHz that move 4 bytes a clock each take 175/256 GB / 80 GB/s = 8544.92 us, and 50 us more for 1000 rows
// of 1000 clocks; on 10 SMs twice as long.
TEST_CASE("Rows sent once to each rank are counted first and moved by a few SMs", "[unit]") {
  Machine m = models::round_machine();
  workloads::Collective op{CollectiveKind::all_to_all, 1e9, 4, 1, kLibrary, 4};
  op.deduplicated = true;
  const auto time = [&] { return us(models::collective_cost(op, m).time); };
  CHECK(time() == Approx(112.0 + 5126.953125));
  CHECK(models::collective_cost(op, m).message_bytes.si() == Approx(0.75 * 175.0 / 256.0 * 1e9));
  m.calibration.deduplicated_bytes_per_sm_clock = 4.0;
  CHECK(time() == Approx(112.0 + 8544.921875));
  m.calibration.deduplicated_row_clocks = 1000.0;
  op.rows = 1000.0;
  CHECK(time() == Approx(112.0 + 8594.921875));
  op.sms = 10;
  CHECK(time() == Approx(112.0 + 2.0 * 8594.921875));
  op.bytes = 1e3;
  CHECK(models::collective_cost(op, m).algorithm == models::Algorithm::deduplicated);
  op.deduplicated = false;
  CHECK(models::collective_cost(op, m).algorithm == models::Algorithm::direct_ll);
}

// Eight chips on seven links of 100/7 GB/s. Two of them have one link: S/B = 70 ms of 1 GB, the ring's
// 2·½ of it; all eight use every link, as behind a switch.
TEST_CASE("A pair in a full mesh has one link, all of it every link", "[unit]") {
  Machine mesh = one_domain();
  mesh.scale_up.mesh_peers = 7.0;
  CHECK(time_us(CollectiveKind::all_reduce, 1e9, 2, mesh) == Approx(11.0 + 2.0 + 70000.0));
  CHECK(time_us(CollectiveKind::send_receive, 1e9, 2, mesh) == Approx(12.0 + 70000.0));
  for (const auto kind : {CollectiveKind::all_reduce, CollectiveKind::all_to_all}) {
    CHECK(time_us(kind, 1e9, 8, mesh) == time_us(kind, 1e9, 8, one_domain()));
  }
  // To each of three peers 1/4 GB over its own link of 14.3 GB/s.
  CHECK(time_us(CollectiveKind::all_to_all, 1e9, 4, mesh) == Approx(11.0 + 3.0 + 17500.0));
}

// Two domains of four, 500 kB: 4/8 of it leave a rank's domain, 3/8 for other positions. At 10 GB/s they
// take 25 us, over a spine of a quarter 75 us, after 11 us, 3 hops inside and 2 beyond. The library hands over inside
// first, a hop more, and stays on its rail, where ranks read each other's memory.
TEST_CASE("Only what leaves its rail waits for an oversubscribed spine", "[unit]") {
  Machine m = models::round_machine();
  m.scale_out.off_rail = 0.25;
  m.scale_out.rails = true;
  CHECK(time_us(CollectiveKind::all_to_all, 5e5, 8, m) == Approx(11.0 + 4.0 + 10.0 + 25.0));
  CHECK(time_us(CollectiveKind::all_to_all, 1e9, 8, m) == Approx(11.0 + 4.0 + 10.0 + 50000.0));
  for (const auto kind : {CollectiveKind::all_reduce, CollectiveKind::all_gather}) {
    CHECK(time_us(kind, 1e9, 8, m) == time_us(kind, 1e9, 8, models::round_machine()));
  }
  m.scale_up.peer_access = false;
  CHECK(time_us(CollectiveKind::all_to_all, 5e5, 8, m) == Approx(11.0 + 3.0 + 10.0 + 75.0));
}

TEST_CASE("A spine that passes less makes no all-to-all faster", "[unit]") {
  Machine m = models::round_machine();
  for (const double bytes : {4e3, 2.5e5, 8e6, 1e9}) {
    double before = 0.0;
    for (const double spine : {1.0, 0.9999, 0.5, 0.25, 0.05}) {
      m.scale_out.off_rail = spine;
      const double now = time_us(CollectiveKind::all_to_all, bytes, 8, m);
      CHECK(now >= before);
      before = now;
    }
  }
}

TEST_CASE("Ranks are in one domain as far as their distances reach", "[unit]") {
  workloads::Collective op;
  op.ranks = 2;
  for (const std::int64_t stride : {1, 3, 5, 7}) {
    op.stride = stride;
    CHECK(workloads::ranks_in_a_domain(op, 8) == 2);
  }
  op.stride = 8;
  CHECK(workloads::ranks_in_a_domain(op, 8) == 1);
}

TEST_CASE("A hand-over within a domain takes the link, beyond it the NIC", "[unit]") {
  const Machine m = models::round_machine();
  const auto send = [&](std::int64_t stride) {
    return time_us(CollectiveKind::send_receive, 1e9, 2, m, kLibrary, stride);
  };
  CHECK(send(1) == Approx(10012.0));
  CHECK(send(4) == Approx(100016.0));
  CHECK(send(8) == Approx(100016.0));
}

TEST_CASE("One rank has nobody to talk to and nothing to pay", "[unit]") {
  for (const auto kind :
       {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
        CollectiveKind::all_to_all, CollectiveKind::broadcast, CollectiveKind::send_receive}) {
    const Cost alone = cost(kind, 1e9, 1, models::round_machine(), kBarriers);
    CHECK(alone.time.si() == 0.0);
    CHECK(alone.message_bytes.si() == 0.0);
  }
}

// Over domains of eight chips: 9 and 10 ranks are five in each of two, 16 are eight.
TEST_CASE("Ranks that do not fill their domains are spread evenly over them", "[unit]") {
  const auto reduce = [](std::int64_t ranks) {
    return time_us(CollectiveKind::all_reduce, 1e9, ranks, one_domain());
  };
  CHECK(reduce(9) == Approx(reduce(10)));
  CHECK(reduce(12) > reduce(10));
  CHECK(reduce(16) > reduce(12));
  CHECK(reduce(9) > reduce(8));
}

}  // namespace roofcast::unit_models_collective
