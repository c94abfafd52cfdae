// SPDX-License-Identifier: Apache-2.0
#include "base/statistics/proportion.hpp"

#include <cmath>

#include "tests/catch.hpp"

namespace roofcast::base::unit_base_proportion {

// Brown, Cai, DasGupta (2001), formula (4), by hand: z = 1.96, n = 10.
TEST_CASE("Wilson's interval of ten trials", "[unit]") {
  CHECK(wilson_interval(0.0, 10.0).low == 0.0);
  CHECK(wilson_interval(0.0, 10.0).high == Approx(0.2775).margin(1e-4));
  CHECK(wilson_interval(0.5, 10.0).low == Approx(0.2366).margin(1e-4));
  CHECK(wilson_interval(0.5, 10.0).high == Approx(0.7634).margin(1e-4));
  CHECK(wilson_interval(1.0, 10.0).low == Approx(0.7225).margin(1e-4));
  CHECK(wilson_interval(1.0, 10.0).high == Approx(1.0));
  CHECK(wilson_interval(0.3, 0.0).low == 0.0);
  CHECK(wilson_interval(0.3, 0.0).high == 1.0);
}

TEST_CASE("Wilson's interval of a hundred trials holds the probability in 93 % of the cases",
          "[unit]") {
  constexpr int kTrials = 100;
  for (const double p : {0.05, 0.1, 0.3, 0.5, 0.8, 0.95}) {
    double holds = 0.0;
    double probability = std::pow(1.0 - p, kTrials);  // of k successes
    for (int k = 0; k <= kTrials; ++k) {
      const ShareInterval interval = wilson_interval(static_cast<double>(k) / kTrials, kTrials);
      holds += interval.low <= p && p <= interval.high ? probability : 0.0;
      probability *= (kTrials - k) * p / ((k + 1) * (1.0 - p));
    }
    INFO(p);
    CHECK(holds > 0.93);
    CHECK(holds < 0.99);
  }
}

TEST_CASE("Trials that remember the one before count for fewer", "[unit]") {
  CHECK(effective_trials({false, false, false, false}) == 4.0);
  CHECK(effective_trials({true, false, true, false, true, false}) == 6.0);
  // Of nine pairs eight are alike and one is not: r = (8 - 1) / 10.
  const std::vector<bool> halves = {true,  true,  true,  true,  true,
                                    false, false, false, false, false};
  CHECK(effective_trials(halves) == Approx(10.0 * 0.3 / 1.7));
  CHECK(effective_trials({true}) == 1.0);
  CHECK(effective_trials({}) == 0.0);
}

}  // namespace roofcast::base::unit_base_proportion
