// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/latency_mixture.hpp"

#include <cmath>

#include "tests/catch.hpp"

namespace roofcast::unit_sim_serving_latency_mixture {

using roofcast::sim::LatencyMixture;
namespace base = roofcast::base;

namespace {

// Of times in s.
void add(LatencyMixture& m, double weight, double mean, double variance, double least) {
  m.add(weight, base::Seconds::from_si(mean), base::SquareSeconds::from_si(variance),
        base::Seconds::from_si(least));
}

}  // namespace

TEST_CASE("A mixture of latencies has the mean and the variance of its parts", "[unit]") {
  LatencyMixture m;
  add(m, 1.0, 2.0, 0.5, 0.0);
  add(m, 3.0, 4.0, 1.0, 1.0);
  CHECK(m.mean().si() == Approx(3.5));
  CHECK(m.variance().si() == Approx(0.25 * 4.5 + 0.75 * 17.0 - 3.5 * 3.5));
  m.shift(base::second, base::SquareSeconds::from_si(0.25), base::second);
  CHECK(m.mean().si() == Approx(4.5));
}

TEST_CASE("Percentiles of latencies rise with the share and invert it", "[unit]") {
  LatencyMixture m;
  add(m, 0.7, 0.1, 0.0004, 0.05);
  add(m, 0.3, 1.0, 0.3, 0.2);
  base::Seconds before;
  for (const double share : {0.05, 0.5, 0.8, 0.95, 0.99}) {
    const base::Seconds at = m.quantile(share);
    CHECK(at > before);
    CHECK(m.share_within(at) == Approx(share).margin(1e-3));
    before = at;
  }
}

TEST_CASE("Percentiles of an exponential latency are its own within 3 %", "[unit]") {
  LatencyMixture m;
  add(m, 1.0, 1.0, 1.0, 0.0);
  CHECK(m.quantile(0.5).si() == Approx(std::log(2.0)).epsilon(0.03));
  CHECK(m.quantile(0.95).si() == Approx(std::log(20.0)).epsilon(0.03));
  CHECK(m.quantile(0.99).si() == Approx(std::log(100.0)).epsilon(0.03));
}

TEST_CASE("A constant latency is its own percentile", "[unit]") {
  LatencyMixture m;
  add(m, 1.0, 0.25, 0.0, 0.25);
  CHECK(m.quantile(0.5).si() == Approx(0.25));
  CHECK(m.quantile(0.99).si() == Approx(0.25));
}

}  // namespace roofcast::unit_sim_serving_latency_mixture
