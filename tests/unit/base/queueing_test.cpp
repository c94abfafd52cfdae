// SPDX-License-Identifier: Apache-2.0
//
// Stations with open arrivals: textbook examples, limits that must meet, and simulation.
#include <limits>
#include <vector>

#include "base/queueing/erlang.hpp"
#include "base/queueing/open_queue.hpp"
#include "tests/catch.hpp"
#include "tests/unit/base/queueing_simulation.hpp"

namespace roofcast::unit_base_queueing {

using namespace roofcast::base;
using namespace roofcast::base::queueing;
namespace simulation = roofcast::queueing_simulation;

namespace {

constexpr std::size_t kArrivals = 400000;

Hertz rate(double per_second) { return Hertz::from_si(per_second); }
Seconds seconds(double value) { return Seconds::from_si(value); }

Queue mmc(Hertz arrivals, Seconds service, std::int64_t servers) {
  return allen_cunneen(arrivals, service, servers, 1.0, 1.0);
}

std::vector<double> waits_of(const simulation::OpenStation& station, std::uint64_t seed) {
  return simulation::simulate(station, kArrivals, seed);
}

std::vector<double> longer_than(std::vector<double> waits, double limit) {
  for (double& wait : waits) {
    wait = wait > limit ? 1.0 : 0.0;
  }
  return waits;
}

}  // namespace

TEST_CASE("Erlang's formulas give the published tables", "[unit]") {
  // 1 % blocked: 4.46 erlang on 10 lines, 84.06 on 100 (any table of Erlang B).
  CHECK(erlang_b(10, 4.46) == Approx(0.01).epsilon(0.005));
  CHECK(erlang_b(100, 84.06) == Approx(0.01).epsilon(0.005));
  CHECK(erlang_b(3, 2.0) == Approx(4.0 / 19.0));
  CHECK(erlang_c(1, 0.7) == Approx(0.7));
  CHECK(erlang_c(4, 4.0) == 1.0);
  CHECK(erlang_b(5, 0.0) == 0.0);
}

TEST_CASE("Servers that are free at the start are all busy for less time, in the end for Erlang's",
          "[unit]") {
  for (const double load : {0.1, 1.0, 7.0}) {
    for (const double services : {0.01, 0.5, 4.0, 100.0}) {
      // One server is busy with the chance a/(1 + a)·(1 − e^(−(1 + a)t)).
      const double rate = (1.0 + load) * services;
      CHECK(early_erlang_b(1, load, services) ==
            Approx(load / (1.0 + load) * (1.0 + std::expm1(-rate) / rate)).epsilon(1e-9));
      CHECK(early_erlang_b(0, load, services) == Approx(1.0).epsilon(1e-9));
      CHECK(early_erlang_b(6, load, services) < erlang_b(6, load));
    }
    CHECK(early_erlang_b(6, load, 1e7) == Approx(erlang_b(6, load)).epsilon(1e-5));
  }
}

TEST_CASE("Erlang's formulas neither overflow nor vanish with ten thousand servers", "[unit]") {
  const double waits = erlang_c(10000, 9900.0);
  CHECK((waits > 0.2 && waits < 0.3));  // Halfin-Whitt at (c - a)/√a = 1.005: 0.22
}

TEST_CASE("three servers at two thirds wait as in Gross and Harris", "[unit]") {
  // Fundamentals of Queueing Theory, the eye clinic: c = 3, 6 an hour, 20 min; Lq = 8/9, Wq = 8.88 min.
  const Queue clinic = mmc(6.0 / hour, 20.0 * 60.0 * second, 3);
  CHECK(clinic.utilisation == Approx(2.0 / 3.0));
  CHECK(clinic.waiting == Approx(8.0 / 9.0));
  CHECK(clinic.wait / (60.0 * second) == Approx(80.0 / 9.0));
  CHECK(clinic.present == Approx(26.0 / 9.0));
  CHECK(clinic.wait_probability == Approx(4.0 / 9.0));
}

TEST_CASE("one server is M/M/1", "[unit]") {
  for (const double rho : {0.1, 0.5, 0.9, 0.99}) {
    const Queue queue = mmc(rate(rho), seconds(1.0), 1);
    CHECK(queue.time.si() == Approx(1.0 / (1.0 - rho)));
    CHECK(queue.present == Approx(rho / (1.0 - rho)));
    const Queue same = mg1(rate(rho), seconds(1.0), 1.0);
    CHECK(same.utilisation == Approx(queue.utilisation));
    CHECK(same.wait_probability == Approx(queue.wait_probability));
    CHECK(same.wait.si() == Approx(queue.wait.si()));
  }
}

TEST_CASE("constant services halve the wait of M/M/1", "[unit]") {
  for (const double rho : {0.1, 0.5, 0.9, 0.99}) {
    const Queue constant = mg1(rate(rho), seconds(1.0), 0.0);
    CHECK(constant.wait.si() == Approx(0.5 * mmc(rate(rho), seconds(1.0), 1).wait.si()));
  }
}

TEST_CASE("an overloaded station says so and is infinite, never a NaN", "[unit]") {
  for (const double load : {1.0, 1.5}) {
    const Hertz arrivals = rate(2.0 * load);
    const Seconds half = seconds(0.5);
    for (const Queue& queue :
         {mg1(arrivals, half, 4.0), mg1(arrivals, half, 0.0), mmc(rate(load), seconds(1.0), 1),
          mmc(arrivals, seconds(1.0), 2), allen_cunneen(arrivals, seconds(1.0), 2, 0.5, 0.0)}) {
      CHECK_FALSE(queue.stable());
      CHECK(queue.utilisation == Approx(load));
      CHECK(queue.wait_probability == 1.0);
      CHECK(queue.wait.si() == std::numeric_limits<double>::infinity());
      CHECK(queue.time.si() == std::numeric_limits<double>::infinity());
      CHECK(queue.present == std::numeric_limits<double>::infinity());
    }
  }
}

TEST_CASE("nobody waits where nobody comes", "[unit]") {
  const Hertz none = rate(0.0);
  const Seconds one = seconds(1.0);
  for (const Queue& queue : {mmc(none, one, 3), mg1(none, one, 4.0), mg1(none, one, 0.0),
                             allen_cunneen(none, one, 2, 0.5, 0.0)}) {
    CHECK(queue.utilisation == 0.0);
    CHECK(queue.wait.si() == 0.0);
    CHECK(queue.time.si() == 1.0);
    CHECK(queue.present == 0.0);
  }
}

TEST_CASE("simulated servers wait as long as M/M/c says", "[unit]") {
  for (const std::size_t servers : {1U, 4U}) {
    const double arrivals = 0.7 * static_cast<double>(servers);
    const Queue queue = mmc(rate(arrivals), seconds(1.0), static_cast<std::int64_t>(servers));
    const auto waits = waits_of({.gap = simulation::exponential(1.0 / arrivals),
                                 .service = simulation::exponential(1.0),
                                 .servers = servers},
                                1);
    simulation::check_mean(waits, queue.wait.si());
    simulation::check_mean(longer_than(waits, 0.0), queue.wait_probability);
  }
}

TEST_CASE("simulated general services wait as long as Pollaczek and Khinchine say", "[unit]") {
  const auto gap = simulation::exponential(1.0 / 0.7);
  simulation::check_mean(waits_of({.gap = gap, .service = simulation::constant(1.0)}, 3),
                         mg1(rate(0.7), seconds(1.0), 0.0).wait.si());
  simulation::check_mean(waits_of({.gap = gap, .service = simulation::gamma(1.0, 2.0)}, 4),
                         mg1(rate(0.7), seconds(1.0), 2.0).wait.si());
}

TEST_CASE("simulated general arrivals wait within the error of the approximation", "[unit]") {
  for (const double ca2 : {0.5, 2.0}) {
    for (const double cs2 : {0.5, 2.0}) {
      const auto four = waits_of({.gap = simulation::gamma(1.0 / 3.2, ca2),
                                  .service = simulation::gamma(1.0, cs2),
                                  .servers = 4},
                                 9);
      simulation::check_mean(four, allen_cunneen(rate(3.2), seconds(1.0), 4, ca2, cs2).wait.si(),
                             0.2);
    }
  }
}

}  // namespace roofcast::unit_base_queueing
