// SPDX-License-Identifier: Apache-2.0
#include "base/statistics/quantile.hpp"

#include <cmath>

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

}  // namespace roofcast::unit_base_quantile
