// SPDX-License-Identifier: Apache-2.0
#include "models/collective.hpp"

#include <algorithm>

#include "tests/catch.hpp"
#include "tests/unit/round_machine.hpp"

using namespace roofcast;
using models::Machine;
using workloads::CollectiveKind;

namespace {

double us(base::Seconds t) { return t / base::microsecond; }

// All of eight chips in one domain: B = 100 GB/s, α = 1 us, L = 10 us, launch 1 us.
Machine one_domain() {
  Machine m = models::round_machine();
  m.scale_up_domain = 8;
  return m;
}

double time_us(CollectiveKind kind, double bytes, std::int64_t ranks, bool custom,
               const Machine& machine, std::int64_t stride = 1) {
  return us(models::collective_cost({kind, bytes, ranks, stride, custom}, machine).time);
}

}  // namespace

// S = 1 kB: S/B = 0.01 us. Of 8 ranks
//   one-shot  1 + 4α + 7·0.01 = 5.07      two-shot  1 + 8α + 1.75·0.01 = 9.0175
//   tree      1 + L + 6α + 0.02 = 17.02   ring      1 + L + 14α + 0.0175
TEST_CASE("A small all-reduce goes in one shot, or up and down a tree", "[unit]") {
  const auto cost =
      models::collective_cost({CollectiveKind::all_reduce, 1e3, 8, 1, true}, one_domain());
  CHECK(cost.algorithm == "one-shot");
  CHECK(us(cost.time) == Approx(5.07));
  CHECK(us(cost.launch) == Approx(1.0));
  CHECK(us(cost.fill) == Approx(4.0));
  const auto library =
      models::collective_cost({CollectiveKind::all_reduce, 1e3, 8, 1, false}, one_domain());
  CHECK(library.algorithm == "tree");
  CHECK(us(library.time) == Approx(17.02));
  CHECK(us(library.launch) == Approx(11.0));
}

// S = 1 MB: S/B = 10 us.
//   one-shot 1 + 4 + 70 = 75, two-shot 1 + 8 + 17.5 = 26.5, ring 1 + 10 + 14 + 17.5 = 42.5
TEST_CASE("A middling all-reduce goes in two shots", "[unit]") {
  CHECK(time_us(CollectiveKind::all_reduce, 1e6, 8, true, one_domain()) == Approx(26.5));
}

TEST_CASE("Kernels that read their peers' memory need links that can", "[unit]") {
  Machine m = one_domain();
  m.scale_up.peer_access = false;  // ring 42.5 against tree 1 + 10 + 6 + 20 = 37
  CHECK(time_us(CollectiveKind::all_reduce, 1e6, 8, true, m) == Approx(37.0));
}

// S = 1 GB: S/B = 10 ms.
//   ring 1 + 10 + 14 + 17 500, in-switch 1 + 10 + 2 + 10 000 / 0.8
TEST_CASE("A large all-reduce goes round the ring, or through a switch that adds", "[unit]") {
  Machine m = one_domain();
  CHECK(time_us(CollectiveKind::all_reduce, 1e9, 8, false, m) == Approx(17525.0));
  m.scale_up.in_network_reduction = true;
  m.calibration.in_network_efficiency = 0.8;
  const auto cost = models::collective_cost({CollectiveKind::all_reduce, 1e9, 8, 1, true}, m);
  CHECK(cost.algorithm == "in-switch");
  CHECK(us(cost.time) == Approx(12513.0));
  // What a rank must send is the same for every algorithm, by definition.
  CHECK(cost.message_bytes.si() == Approx(1.75e9));
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
      CHECK(time_us(CollectiveKind::all_reduce, bytes, n, true, m) <= best * (1.0 + 1e-12));
    }
  }
}

// 800 MB and 8 ranks: 7/8 of it leave every rank, 7 ms. all-gather and reduce-scatter make 7 hops,
// all-to-all one.
TEST_CASE("Gathers and scatters move what a rank does not have", "[unit]") {
  CHECK(time_us(CollectiveKind::all_gather, 8e8, 8, false, one_domain()) == Approx(7018.0));
  CHECK(time_us(CollectiveKind::reduce_scatter, 8e8, 8, false, one_domain()) == Approx(7018.0));
  CHECK(time_us(CollectiveKind::all_to_all, 8e8, 8, false, one_domain()) == Approx(7012.0));
  CHECK(time_us(CollectiveKind::send_receive, 8e8, 2, false, one_domain()) == Approx(8012.0));
}

// Two domains of four, 1 GB. Inside: S/B = 10 ms, 3 hops of 1 us, 3/4·10 ms; across: the shard of
// 250 MB at 10 GB/s = 25 ms, 5 us a hop.
//   all-reduce   1 + 10 + 2·(3 + 7500) + (2·5 + 2·½·25 000)
//   all-gather   1 + 10 + (3 + 7500) + (5 + ½·25 000)
//   all-to-all   1 + 10 + (1 + 5) + max(3/8·10 ms, 4/8·100 ms), both levels at work at once
TEST_CASE("Ranks that span domains use both levels of the fabric", "[unit]") {
  const Machine m = models::round_machine();
  CHECK(time_us(CollectiveKind::all_reduce, 1e9, 8, true, m) == Approx(40027.0));
  CHECK(time_us(CollectiveKind::all_gather, 1e9, 8, true, m) == Approx(20019.0));
  CHECK(time_us(CollectiveKind::reduce_scatter, 1e9, 8, true, m) == Approx(20019.0));
  CHECK(time_us(CollectiveKind::all_to_all, 1e9, 8, true, m) == Approx(50017.0));
  // Four ranks, two apart, span two domains of four: 2 inside, 2 domains.
  //   all-gather   1 + 10 + (1 + ½·10 ms) + (5 + ½·50 ms)
  CHECK(time_us(CollectiveKind::all_gather, 1e9, 4, true, m, 2) == Approx(30017.0));
}

// 1 GB of rows to 4 random ranks of two domains of four: a row crosses with probability 1 − (1/2)^4, so
// (15/16)/4 of the bytes go out: 23 437.5 us at 10 GB/s, after 1 + 10 + 100 + 6 us. Sending every copy
// takes 50 000 us; of a small message the setup is not worth it.
TEST_CASE("A row that several ranks of a domain want crosses to it once when that is quicker",
          "[unit]") {
  const Machine m = models::round_machine();
  const auto all_to_all = [&](double bytes, std::int64_t copies) {
    return models::collective_cost({CollectiveKind::all_to_all, bytes, 8, 1, false, copies}, m);
  };
  const auto large = all_to_all(1e9, 4);
  CHECK(large.time / base::microsecond == Approx(23554.5));
  CHECK(large.algorithm == "deduplicated");
  CHECK(all_to_all(1e4, 4).algorithm == "direct");
  CHECK(all_to_all(1e9, 1).algorithm == "direct");
}

TEST_CASE("A hand-over within a domain takes the link, beyond it the NIC", "[unit]") {
  const Machine m = models::round_machine();
  CHECK(time_us(CollectiveKind::send_receive, 1e9, 2, false, m, 1) == Approx(10012.0));
  CHECK(time_us(CollectiveKind::send_receive, 1e9, 2, false, m, 4) == Approx(100016.0));
  CHECK(time_us(CollectiveKind::send_receive, 1e9, 2, false, m, 8) == Approx(100016.0));
}

TEST_CASE("One rank has nobody to talk to and nothing to pay", "[unit]") {
  for (const auto kind :
       {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
        CollectiveKind::all_to_all, CollectiveKind::send_receive}) {
    const auto cost = models::collective_cost({kind, 1e9, 1, 1, true}, models::round_machine());
    CHECK(cost.time.si() == 0.0);
    CHECK(cost.message_bytes.si() == 0.0);
  }
}
