// SPDX-License-Identifier: Apache-2.0
#include "base/queueing/batch_queue.hpp"

#include <algorithm>
#include <cmath>

#include "base/queueing/birth_death.hpp"
#include "base/queueing/modulated_birth_death.hpp"
#include "base/statistics/random.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_base_batch_queue {

using base::queueing::BatchQueue;
using base::queueing::BatchQueueStates;

namespace {

// Batches of up to `k` requests of one unit, that take `alone` and `each` more for each of them, in s.
BatchQueue queue(double rate, std::size_t k, double alone, double each) {
  BatchQueue q;
  for (std::size_t s = 0; s <= k; ++s) {
    q.times.push_back((alone + each * static_cast<double>(s)) * base::second);
    q.arrivals.push_back(rate * q.times.back().si());
  }
  q.sizes = {0.0, 1.0};
  return q;
}

struct Simulated {
  double mean = 0;    // s, of a batch
  double stay = 0;    // s
  double square = 0;  // s²
};

// The same, batch by batch, with Poisson arrivals. It shares no formula with the chain.
Simulated simulate(const BatchQueue& q, double rate, int batches) {
  base::Random random(7, "batches");
  std::vector<double> waiting;
  double now = 0.0;
  double next = random.exponential(1.0 / rate);
  Simulated r;
  double served = 0.0;
  for (int i = 0; i < batches; ++i) {
    const std::size_t s = std::min(waiting.size(), q.times.size() - 1);
    const double end = now + q.times[s].si();
    for (std::size_t j = 0; j < s; ++j) {
      const double stay = end - waiting[j];
      r.stay += stay;
      r.square += stay * stay;
      served += 1.0;
    }
    waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(s));
    for (; next < end; next += random.exponential(1.0 / rate)) {
      waiting.push_back(next);
    }
    r.mean += q.times[s].si();
    now = end;
  }
  return {r.mean / batches, r.stay / served, r.square / served};
}

}  // namespace

TEST_CASE("A queue served in batches takes what a simulation of its batches takes", "[unit]") {
  struct Case {
    double rate;
    std::size_t k;
    double alone;
    double each;
  };
  for (const Case& c : {Case{2.0, 8, 0.05, 0.1}, Case{6.0, 8, 0.05, 0.1}, Case{8.0, 4, 0.02, 0.09},
                        Case{0.5, 1, 0.2, 0.6}, Case{20.0, 16, 0.3, 0.01}}) {
    const BatchQueue q = queue(c.rate, c.k, c.alone, c.each);
    const BatchQueueStates states(q);
    const auto stay = states.stay({{1.0, 1.0}});
    const Simulated simulated = simulate(q, c.rate, 400'000);
    INFO(c.rate << " a second, up to " << c.k);
    CHECK(states.mean().si() == Approx(simulated.mean).epsilon(0.01));
    CHECK(stay.mean.si() == Approx(simulated.stay).epsilon(0.02));
    CHECK(stay.square.si() == Approx(simulated.square).epsilon(0.05));
  }
}

TEST_CASE("Arrivals of a queue that is served in batches leave in its batches", "[unit]") {
  for (const double rate : {0.1, 1.0, 5.0, 9.0}) {
    const BatchQueue q = queue(rate, 8, 0.05, 0.1);
    const BatchQueueStates states(q);
    // The time of a batch is linear in its units, so its mean says how many it has.
    const double units = (states.mean().si() - 0.05) / 0.1;
    CHECK(units == Approx(rate * states.mean().si()).epsilon(1e-3));
  }
}

TEST_CASE("A lone request of an idle server takes its own batch", "[unit]") {
  BatchQueue q = queue(1e-9, 4, 0.0, 0.5);
  const BatchQueueStates states(q);
  CHECK(states.stay({{1.0, 1.0}}).mean.si() == Approx(0.5));
  CHECK(states.stay({{3.0, 1.0}}).mean.si() == Approx(1.5));
  CHECK(states.stay({{6.0, 1.0}}).mean.si() == Approx(2.0 + 1.0));  // four units, then two
}

TEST_CASE("Clustered arrivals wait longer than random ones, regular ones less", "[unit]") {
  const BatchQueue random = queue(6.0, 8, 0.05, 0.1);
  BatchQueue clustered = random;
  clustered.bursts.assign(random.times.size(), 3.0);
  BatchQueue regular = random;
  regular.bursts.assign(random.times.size(), 0.3);
  const auto stay = [](const BatchQueue& q) { return BatchQueueStates(q).stay({{1.0, 1.0}}).mean; };
  CHECK(stay(clustered) > 1.1 * stay(random));
  CHECK(stay(regular) < stay(random));
}

TEST_CASE("A birth rate with phases that are alike is a birth rate", "[unit]") {
  const std::vector<double> deaths = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0};
  const auto two = base::queueing::modulated_birth_death({{2.0, 0.7, deaths}, {2.0, 0.1, deaths}});
  const std::vector<double> one =
      base::queueing::birth_death(std::vector<double>(deaths.size(), 2.0), deaths);
  for (std::size_t n = 0; n < one.size(); ++n) {
    CHECK(two[0][n] + two[1][n] == Approx(one[n]));
  }
  double first = 0.0;
  for (const double p : two[0]) {
    first += p;
  }
  CHECK(first == Approx(0.1 / 0.8));  // by the times in the phases
}

TEST_CASE("Slow phases are birth-death processes of their own", "[unit]") {
  const std::vector<double> deaths = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0};
  const auto p = base::queueing::modulated_birth_death({{1.0, 1e-7, deaths}, {3.0, 1e-7, deaths}});
  const std::vector<double> low =
      base::queueing::birth_death(std::vector<double>(deaths.size(), 1.0), deaths);
  const std::vector<double> high =
      base::queueing::birth_death(std::vector<double>(deaths.size(), 3.0), deaths);
  for (std::size_t n = 0; n < low.size(); ++n) {
    CHECK(2.0 * p[0][n] == Approx(low[n]).margin(1e-5));
    CHECK(2.0 * p[1][n] == Approx(high[n]).margin(1e-5));
  }
}

}  // namespace roofcast::unit_base_batch_queue
