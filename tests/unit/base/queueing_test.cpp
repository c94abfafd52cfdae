// SPDX-License-Identifier: Apache-2.0
//
// Stations with open arrivals: textbook examples, limits that must meet, and simulation.
#include <cmath>
#include <limits>
#include <vector>

#include "base/queueing/batch_service.hpp"
#include "base/queueing/birth_death.hpp"
#include "base/queueing/erlang.hpp"
#include "base/queueing/open_queue.hpp"
#include "tests/catch.hpp"
#include "tests/unit/base/queueing_simulation.hpp"

using namespace roofcast::base;
using namespace roofcast::base::queueing;
namespace simulation = roofcast::queueing_simulation;

namespace {

constexpr std::size_t kArrivals = 400000;

Hertz rate(double per_second) { return Hertz::from_si(per_second); }
Seconds seconds(double value) { return Seconds::from_si(value); }

void check_equal(const Queue& a, const Queue& b, double tolerance = 1e-12) {
  CHECK(a.utilisation == Approx(b.utilisation).epsilon(tolerance));
  CHECK(a.wait_probability == Approx(b.wait_probability).epsilon(tolerance));
  CHECK(a.wait.si() == Approx(b.wait.si()).epsilon(tolerance));
  CHECK(a.time.si() == Approx(b.time.si()).epsilon(tolerance));
  CHECK(a.waiting == Approx(b.waiting).epsilon(tolerance));
  CHECK(a.present == Approx(b.present).epsilon(tolerance));
}

std::vector<double> waits_of(const simulation::OpenStation& station, std::uint64_t seed) {
  return simulation::simulate(station, kArrivals, seed).waits;
}

std::vector<double> longer_than(std::vector<double> waits, double limit) {
  for (double& wait : waits) {
    wait = wait > limit ? 1.0 : 0.0;
  }
  return waits;
}

}  // namespace

TEST_CASE("Erlang's formulas give the published tables", "[unit]") {
  // One per cent blocked: 4.46 erlang on 10 lines, 84.06 on 100 (any table of Erlang B).
  CHECK(erlang_b(10, 4.46) == Approx(0.01).epsilon(0.005));
  CHECK(erlang_b(100, 84.06) == Approx(0.01).epsilon(0.005));
  CHECK(erlang_b(3, 2.0) == Approx(4.0 / 19.0));
  CHECK(erlang_c(1, 0.7) == Approx(0.7));
  CHECK(erlang_c(4, 4.0) == 1.0);
  CHECK(erlang_b(5, 0.0) == 0.0);
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

TEST_CASE("three servers with room for four more turn away as in Gross and Harris", "[unit]") {
  // The emission inspection station: 1 a minute, 6 min, c = 3, K = 7; Lq = 3.09, L = 6.06,
  // W = 12.3 min, 30.3 an hour are refused.
  const LimitedQueue station = limited(rate(1.0), seconds(6.0), 3, 7);
  CHECK(station.accepted.waiting == Approx(3.09).epsilon(0.002));
  CHECK(station.accepted.present == Approx(6.06).epsilon(0.002));
  CHECK(station.accepted.time.si() == Approx(12.3).epsilon(0.005));
  CHECK(60.0 * station.blocked == Approx(30.3).epsilon(0.002));
}

TEST_CASE("one server is M/M/1", "[unit]") {
  for (const double rho : {0.1, 0.5, 0.9, 0.99}) {
    const Queue queue = mmc(rate(rho), seconds(1.0), 1);
    CHECK(queue.time.si() == Approx(1.0 / (1.0 - rho)));
    CHECK(queue.present == Approx(rho / (1.0 - rho)));
    check_equal(queue, mg1(rate(rho), seconds(1.0), 1.0));
    check_equal(queue, state_dependent(rate(rho), std::vector{rate(1.0)}));
    check_equal(queue, exponential_batches(rate(rho), seconds(1.0), 1, 1), 1e-9);
    CHECK(queue.time.si() == Approx(processor_sharing_time(rho, seconds(1.0)).si()));
  }
}

TEST_CASE("constant services halve the wait of M/M/1", "[unit]") {
  for (const double rho : {0.1, 0.5, 0.9, 0.99}) {
    const Queue constant = mg1(rate(rho), seconds(1.0), 0.0);
    CHECK(constant.wait.si() == Approx(0.5 * mmc(rate(rho), seconds(1.0), 1).wait.si()));
    check_equal(constant, constant_batches(rate(rho), seconds(1.0), 1), 1e-9);
  }
}

TEST_CASE("general queues with Poisson arrivals and exponential services are M/M/c", "[unit]") {
  for (const std::int64_t servers : {1, 2, 8, 64}) {
    for (const double rho : {0.3, 0.7, 0.95}) {
      const Hertz arrivals = rate(rho * static_cast<double>(servers));
      const Queue exact = mmc(arrivals, seconds(1.0), servers);
      check_equal(allen_cunneen(arrivals, seconds(1.0), servers, 1.0, 1.0), exact);
      // Sakasegawa's own error: within 8 % where four in ten wait, none for one server.
      const Queue close = sakasegawa(arrivals, seconds(1.0), servers, 1.0, 1.0);
      if (servers == 1 || exact.wait_probability > 0.4) {
        CHECK(close.wait.si() == Approx(exact.wait.si()).epsilon(servers == 1 ? 1e-12 : 0.08));
      }
    }
  }
  check_equal(gg1(rate(0.8), seconds(1.0), 1.0, 1.0), mmc(rate(0.8), seconds(1.0), 1));
}

TEST_CASE("state-dependent rates 1, 2, …, c are c servers", "[unit]") {
  const std::vector<Hertz> rates = {rate(1.0), rate(2.0), rate(3.0)};
  const Queue chain = state_dependent(rate(2.5), rates);
  const Queue servers = mmc(rate(2.5), seconds(1.0), 3);
  CHECK(chain.time.si() == Approx(servers.time.si()));
  CHECK(chain.present == Approx(servers.present));
  CHECK(chain.utilisation == Approx(servers.utilisation));
}

TEST_CASE("much room is no limit, and none is Erlang B", "[unit]") {
  const LimitedQueue roomy = limited(rate(2.4), seconds(1.0), 3, 400);
  CHECK(roomy.blocked < 1e-12);
  check_equal(roomy.accepted, mmc(rate(2.4), seconds(1.0), 3), 1e-9);
  const LimitedQueue lines = limited(rate(4.46), seconds(1.0), 10, 10);
  CHECK(lines.blocked == Approx(erlang_b(10, 4.46)));
  CHECK(lines.accepted.wait.si() == 0.0);
  CHECK(limited(rate(0.0), seconds(1.0), 2, 4).accepted.time.si() == 1.0);
  const LimitedQueue flooded = limited(rate(1e6), seconds(1.0), 2, 4000);
  CHECK(flooded.throughput.si() == Approx(2.0).epsilon(1e-6));
}

TEST_CASE("an overloaded station says so and is infinite, never a NaN", "[unit]") {
  for (const double load : {1.0, 1.5}) {
    const Hertz arrivals = rate(2.0 * load);
    const Seconds half = seconds(0.5);
    for (const Queue& queue :
         {mmc(rate(load), seconds(1.0), 1), mmc(arrivals, seconds(1.0), 2),
          mg1(arrivals, half, 4.0), mg1(arrivals, half, 0.0), gg1(arrivals, half, 0.0, 0.0),
          gg1(arrivals, half, 0.5, 0.5), mg1_with_setup(arrivals, half, 1.0, half, 1.0),
          allen_cunneen(arrivals, seconds(1.0), 2, 0.5, 0.0),
          sakasegawa(arrivals, seconds(1.0), 2, 2.0, 1.0),
          exponential_batches(arrivals, seconds(2.0), 2, 4),
          constant_batches(arrivals, seconds(2.0), 4),
          state_dependent(arrivals, std::vector{rate(1.0), rate(2.0)})}) {
      CHECK_FALSE(queue.stable());
      CHECK(queue.utilisation == Approx(load));
      CHECK(queue.wait_probability == 1.0);
      CHECK(queue.wait.si() == std::numeric_limits<double>::infinity());
      CHECK(queue.time.si() == std::numeric_limits<double>::infinity());
      CHECK(queue.present == std::numeric_limits<double>::infinity());
      CHECK(wait_percentile(queue, 0.5).si() == std::numeric_limits<double>::infinity());
    }
    CHECK(processor_sharing_time(load, half).si() == std::numeric_limits<double>::infinity());
    CHECK(kingman_bound(arrivals, half, 1.0, 1.0).si() == std::numeric_limits<double>::infinity());
    CHECK(mg1_wait_cv(arrivals, half, 1.0, 6.0) == std::numeric_limits<double>::infinity());
  }
}

TEST_CASE("nobody waits where nobody comes", "[unit]") {
  const Hertz none = rate(0.0);
  const Seconds one = seconds(1.0);
  for (const Queue& queue :
       {mmc(none, one, 3), mg1(none, one, 4.0), gg1(none, one, 0.0, 0.0), gg1(none, one, 0.5, 2.0),
        allen_cunneen(none, one, 2, 0.5, 0.0), sakasegawa(none, one, 2, 2.0, 1.0),
        exponential_batches(none, one, 1, 4), constant_batches(none, one, 4),
        state_dependent(none, std::vector{rate(1.0), rate(2.0)})}) {
    CHECK(queue.utilisation == 0.0);
    CHECK(queue.wait.si() == 0.0);
    CHECK(queue.time.si() == 1.0);
    CHECK(queue.present == 0.0);
    CHECK(wait_percentile(queue, 0.99).si() == 0.0);
  }
  CHECK(mg1_wait_cv(none, one, 1.0, 6.0) == 0.0);
}

TEST_CASE("Kingman's bound is above and met in heavy traffic", "[unit]") {
  for (const double ca2 : {0.25, 1.0, 4.0}) {
    for (const double rho : {0.3, 0.7, 0.999}) {
      const double bound = kingman_bound(rate(rho), seconds(1.0), ca2, 0.5).si();
      const double mean = gg1(rate(rho), seconds(1.0), ca2, 0.5).wait.si();
      CHECK(bound >= mean);
      CHECK((rho < 0.99 || bound <= 1.01 * mean));
    }
  }
}

TEST_CASE("the wait of M/M/c is exponential for those that wait", "[unit]") {
  const Queue queue = mmc(rate(2.4), seconds(1.0), 3);
  CHECK(wait_percentile(queue, 1.0 - queue.wait_probability).si() == 0.0);
  CHECK(wait_percentile(queue, 0.0).si() == 0.0);
  // P(W > t) = C e^{-(c μ - λ) t}.
  const double p99 = wait_percentile(queue, 0.99).si();
  CHECK(queue.wait_probability * std::exp(-0.6 * p99) == Approx(0.01));
  CHECK(wait_percentile(queue, 1.0).si() == std::numeric_limits<double>::infinity());
}

TEST_CASE("the fewest servers are enough, and one fewer is not", "[unit]") {
  for (const double load : {0.01, 0.5, 3.0, 97.3, 5000.0}) {
    for (const double limit : {0.0, 0.1, 10.0}) {
      const std::int64_t servers =
          servers_for(rate(load), seconds(1.0), 1.0, 1.0, 0.99, seconds(limit));
      CHECK(wait_percentile(mmc(rate(load), seconds(1.0), servers), 0.99) <= seconds(limit));
      if (servers > 1) {
        const Queue fewer = mmc(rate(load), seconds(1.0), servers - 1);
        CHECK((!fewer.stable() || wait_percentile(fewer, 0.99) > seconds(limit)));
      }
    }
  }
  CHECK(servers_for(rate(0.0), seconds(1.0), 1.0, 1.0, 0.99, {}) == 1);
}

TEST_CASE("simulated servers wait as long as M/M/c says, in mean and percentile", "[unit]") {
  for (const std::size_t servers : {1U, 4U}) {
    const auto count = static_cast<std::int64_t>(servers);
    const double arrivals = 0.7 * static_cast<double>(servers);
    const Queue queue = mmc(rate(arrivals), seconds(1.0), count);
    const auto waits = waits_of({.gap = simulation::exponential(1.0 / arrivals),
                                 .service = simulation::exponential(1.0),
                                 .servers = servers},
                                1);
    simulation::check_mean(waits, queue.wait.si());
    simulation::check_mean(longer_than(waits, 0.0), queue.wait_probability);
    simulation::check_mean(longer_than(waits, wait_percentile(queue, 0.9).si()), 0.1);
  }
}

TEST_CASE("simulated limited rooms turn away as many as M/M/c/K says", "[unit]") {
  const LimitedQueue expected = limited(rate(3.0), seconds(1.0), 3, 5);
  const auto seen = simulation::simulate({.gap = simulation::exponential(1.0 / 3.0),
                                          .service = simulation::exponential(1.0),
                                          .servers = 3,
                                          .capacity = 5},
                                         kArrivals, 2);
  simulation::check_mean(seen.refused, expected.blocked);
  simulation::check_mean(seen.waits, expected.accepted.wait.si());
  simulation::check_mean(longer_than(seen.waits, 0.0), expected.accepted.wait_probability);
}

TEST_CASE("simulated general services wait as long as Pollaczek and Khinchine say", "[unit]") {
  const auto gap = simulation::exponential(1.0 / 0.7);
  simulation::check_mean(waits_of({.gap = gap, .service = simulation::constant(1.0)}, 3),
                         mg1(rate(0.7), seconds(1.0), 0.0).wait.si());
  const auto waits = waits_of({.gap = gap, .service = simulation::gamma(1.0, 2.0)}, 4);
  const Queue queue = mg1(rate(0.7), seconds(1.0), 2.0);
  simulation::check_mean(waits, queue.wait.si());
  // The third moment of a gamma of shape 1/2: k (k+1) (k+2) / k^3 = 15.
  const double cv = mg1_wait_cv(rate(0.7), seconds(1.0), 2.0, 15.0);
  const double mean = queue.wait.si();
  std::vector<double> squares = waits;
  for (double& wait : squares) {
    wait *= wait;
  }
  const simulation::Mean seen = simulation::mean_of(squares);
  CHECK(std::abs(seen.value - mean * mean * (1.0 + cv * cv)) <= seen.half_width);
  // The exponential tail is an approximation: of a hundred arrivals, one more or fewer is beyond.
  const double beyond =
      simulation::mean_of(longer_than(waits, wait_percentile(queue, 0.95).si())).value;
  CHECK(std::abs(beyond - 0.05) < 0.01);
}

TEST_CASE("the wait of M/M/1 is as spread as its exponential form says", "[unit]") {
  // P(W > t) = ρ e^{-(1-ρ)t}: E[W²] = 2ρ/(1-ρ)², so cv² = 2/ρ - 1.
  CHECK(mg1_wait_cv(rate(0.6), seconds(1.0), 1.0, 6.0) == Approx(std::sqrt(2.0 / 0.6 - 1.0)));
}

TEST_CASE("simulated setups add what Welch says", "[unit]") {
  const auto waits = waits_of({.gap = simulation::exponential(1.0 / 0.6),
                               .service = simulation::gamma(1.0, 0.5),
                               .setup = simulation::exponential(2.0)},
                              5);
  simulation::check_mean(waits,
                         mg1_with_setup(rate(0.6), seconds(1.0), 0.5, seconds(2.0), 1.0).wait.si());
  check_equal(mg1_with_setup(rate(0.6), seconds(1.0), 0.5, {}, 1.0),
              mg1(rate(0.6), seconds(1.0), 0.5));
}

TEST_CASE("simulated shared processors take 1/(1-ρ) whatever the services are", "[unit]") {
  const double expected = processor_sharing_time(0.7, seconds(1.0)).si();
  const auto gap = simulation::exponential(1.0 / 0.7);
  simulation::check_mean(simulation::simulate_sharing(gap, simulation::constant(1.0), kArrivals, 6),
                         expected);
  simulation::check_mean(
      simulation::simulate_sharing(gap, simulation::gamma(1.0, 4.0), kArrivals, 7), expected);
}

TEST_CASE("simulated general arrivals wait within the errors of the approximations", "[unit]") {
  // Stated: 10 % for one server, 20 % for several, at ρ = 0.8.
  for (const double ca2 : {0.5, 2.0}) {
    for (const double cs2 : {0.5, 2.0}) {
      const auto one = waits_of(
          {.gap = simulation::gamma(1.0 / 0.8, ca2), .service = simulation::gamma(1.0, cs2)}, 8);
      simulation::check_mean(one, gg1(rate(0.8), seconds(1.0), ca2, cs2).wait.si(), 0.1);
      const auto four = waits_of({.gap = simulation::gamma(1.0 / 3.2, ca2),
                                  .service = simulation::gamma(1.0, cs2),
                                  .servers = 4},
                                 9);
      simulation::check_mean(four, allen_cunneen(rate(3.2), seconds(1.0), 4, ca2, cs2).wait.si(),
                             0.2);
      simulation::check_mean(four, sakasegawa(rate(3.2), seconds(1.0), 4, ca2, cs2).wait.si(), 0.2);
    }
  }
}

TEST_CASE("simulated batches wait as long as the exact bulk queues", "[unit]") {
  struct Case {
    double arrivals;
    std::size_t least, most;
  };
  for (const Case& c : {Case{3.0, 1, 4}, Case{1.0, 3, 4}, Case{6.0, 8, 8}, Case{12.0, 4, 32}}) {
    const auto seen = waits_of({.gap = simulation::exponential(1.0 / c.arrivals),
                                .service = simulation::exponential(1.0),
                                .least = c.least,
                                .most = c.most},
                               10);
    const Queue exact =
        exponential_batches(rate(c.arrivals), seconds(1.0), static_cast<std::int64_t>(c.least),
                            static_cast<std::int64_t>(c.most));
    simulation::check_mean(seen, exact.wait.si());
    simulation::check_mean(longer_than(seen, 0.0), exact.wait_probability);
  }
  for (const Case& c : {Case{1.0, 1, 2}, Case{3.4, 1, 4}, Case{20.0, 1, 32}, Case{230.0, 1, 256}}) {
    const auto seen = waits_of({.gap = simulation::exponential(1.0 / c.arrivals),
                                .service = simulation::constant(1.0),
                                .most = c.most},
                               11);
    const Queue exact =
        constant_batches(rate(c.arrivals), seconds(1.0), static_cast<std::int64_t>(c.most));
    simulation::check_mean(seen, exact.wait.si());
  }
}

TEST_CASE("batches that never fill wait half a service", "[unit]") {
  // Arrivals find a service that is always running, at a random instant of it.
  CHECK(constant_batches(rate(50.0), seconds(1.0), 2000).wait.si() == Approx(0.5).epsilon(1e-6));
  CHECK(constant_batches(rate(0.001), seconds(1.0), 64).wait.si() < 0.001);
}
