// SPDX-License-Identifier: Apache-2.0
#include "base/statistics/quantile.hpp"

#include <cmath>

#include "tests/catch.hpp"

using roofcast::base::quantile;

TEST_CASE("A quantile interpolates between the two nearest values", "[unit]") {
  CHECK(quantile({4.0, 1.0, 3.0, 2.0}, 0.0) == 1.0);
  CHECK(quantile({4.0, 1.0, 3.0, 2.0}, 1.0) == 4.0);
  CHECK(quantile({4.0, 1.0, 3.0, 2.0}, 0.5) == 2.5);
  CHECK(quantile({10.0, 0.0}, 0.9) == Approx(9.0));
  CHECK(quantile({7.0}, 0.3) == 7.0);
  CHECK(std::isnan(quantile({}, 0.5)));
}
