// SPDX-License-Identifier: Apache-2.0
#include "base/statistics/batch_means.hpp"

#include <vector>

#include "tests/catch.hpp"

namespace roofcast::unit_base_batch_means {
namespace {

using base::mean_of_batches;
using base::MeanWithError;

TEST_CASE("The error of a mean is the deviation of its batches over the root of their number",
          "[unit]") {
  const MeanWithError found = mean_of_batches(std::vector{1.0, 2.0, 3.0, 6.0});
  CHECK(found.mean == Approx(3.0));
  CHECK(found.error == Approx(1.0801234497));  // sqrt((4 + 1 + 0 + 9) / 3 / 4)
}

TEST_CASE("Equal batches have no error", "[unit]") {
  CHECK(mean_of_batches(std::vector{0.25, 0.25, 0.25}).error == 0.0);
}

}  // namespace
}  // namespace roofcast::unit_base_batch_means
