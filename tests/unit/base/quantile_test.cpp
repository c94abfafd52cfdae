// SPDX-License-Identifier: Apache-2.0
#include "base/statistics/quantile.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/statistics/expected_maximum.hpp"
#include "base/statistics/normal_quantile.hpp"
#include "base/statistics/random.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_base_quantile {

using roofcast::base::quantile;

// Five values sorted are 15 20 35 40 50; position q·4: 0.4·4 = 1.6 → 20 + 0.6·15 = 29.
TEST_CASE("A quantile lies between the order statistics in proportion", "[unit]") {
  const std::vector<double> values = {40, 15, 50, 20, 35};
  CHECK(quantile(values, 0.0) == 15.0);
  CHECK(quantile(values, 0.25) == 20.0);
  CHECK(quantile(values, 0.4) == Approx(29.0).epsilon(1e-14));
  CHECK(quantile(values, 0.5) == 35.0);
  CHECK(quantile(values, 0.9) == Approx(46.0).epsilon(1e-14));
  CHECK(quantile(values, 1.0) == 50.0);
}

TEST_CASE("The median of an even number of values is the mean of the middle two", "[unit]") {
  CHECK(quantile({4, 1, 3, 2}, 0.5) == 2.5);
}

TEST_CASE("Every quantile of one value is that value, and of none there is none", "[unit]") {
  for (const double q : {0.0, 0.3, 1.0}) {
    CHECK(quantile({7.0}, q) == 7.0);
    CHECK(std::isnan(quantile({}, q)));
  }
}

TEST_CASE("Nine of ten next values lie between the bounds that few values give", "[unit]") {
  base::Random random(3, "next");
  for (const std::size_t count : {20U, 22U, 44U, 200U}) {
    INFO(count);
    constexpr int kTrials = 20'000;
    int within = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<double> values(count);
      for (double& value : values) {
        value = std::exp(random.normal());
      }
      const double next = std::exp(random.normal());
      within +=
          next >= base::next_quantile(values, 0.05) && next <= base::next_quantile(values, 0.95)
              ? 1
              : 0;
    }
    CHECK(within > 0.89 * kTrials);
    CHECK(within < 0.915 * kTrials);
  }
}

TEST_CASE("Of fewer values than tell, the least and the greatest bound the next", "[unit]") {
  CHECK(base::next_quantile({3, 1, 2}, 0.05) == 1.0);
  CHECK(base::next_quantile({3, 1, 2}, 0.95) == 3.0);
  CHECK(base::next_quantile({7}, 0.05) == 7.0);
  CHECK(std::isnan(base::next_quantile({}, 0.05)));
}

TEST_CASE("Rising quantiles of values in any order are those of the sorted values", "[unit]") {
  base::Random random(2, "rising");
  for (const std::size_t count : {1U, 2U, 3U, 10U, 1000U}) {
    std::vector<double> values(count);
    for (double& value : values) {
      value = random.uniform();
    }
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    base::RisingQuantiles<double> rising(values);
    for (const double q : {0.0, 0.5, 0.5, 0.9, 0.95, 0.99, 1.0}) {
      CHECK(rising(q) == base::sorted_quantile(sorted, q));
    }
  }
}

TEST_CASE("The expected largest of normal deviates is that of draws", "[unit]") {
  base::Random random(1, "largest");
  for (const int n : {8, 64, 1024}) {
    constexpr int kDraws = 4000;
    double mean = 0.0;
    for (int draw = 0; draw < kDraws; ++draw) {
      double largest = random.normal();
      for (int i = 1; i < n; ++i) {
        largest = std::max(largest, random.normal());
      }
      mean += largest / kDraws;
    }
    INFO(n);
    CHECK(base::expected_maximum(n) == Approx(mean).epsilon(0.02));
  }
  CHECK(base::expected_maximum(1.0) == 0.0);
  CHECK(base::expected_maximum(131072.0) == Approx(4.43).epsilon(0.005));
}

TEST_CASE("So much of a normal distribution is below its quantile", "[unit]") {
  for (const double share : {1e-12, 1e-6, 0.001, 0.05, 0.3, 0.5, 0.7, 0.95, 0.999, 1.0 - 1e-6}) {
    INFO(share);
    const double x = base::normal_quantile(share);
    CHECK(0.5 * std::erfc(-x / std::numbers::sqrt2) == Approx(share).epsilon(1e-9));
  }
  CHECK(base::normal_quantile(0.5) == Approx(0.0).margin(1e-12));
  CHECK(base::normal_quantile(0.975) == Approx(1.959963984540054).epsilon(1e-12));
}

}  // namespace roofcast::unit_base_quantile
