// SPDX-License-Identifier: Apache-2.0
#include "calibrate/platforms/error_summary.hpp"

#include <cmath>

#include "tests/catch.hpp"

namespace roofcast::unit_calibrate_error_summary {

using calibrate::Pair;

// Errors −50 %, −10 %, +20 %, +100 %: magnitudes 0.1 0.2 0.5 1.0, mean 0.45, median 0.35, p90 at
// position 2.7 = 0.5 + 0.7·0.5; the signed median is (−0.1 + 0.2)/2.
TEST_CASE("Magnitudes measure the error, the signed median its direction", "[unit]") {
  const std::vector<Pair> pairs = {{10, 5}, {10, 9}, {10, 12}, {10, 20}};
  const auto e = calibrate::summarise(pairs);
  CHECK(e.rows == 4);
  CHECK(e.mape == Approx(0.45).epsilon(1e-14));
  CHECK(e.median == Approx(0.35).epsilon(1e-14));
  CHECK(e.p90 == Approx(0.85).epsilon(1e-14));
  CHECK(e.bias == Approx(0.05).epsilon(1e-14));
}

TEST_CASE("An error is relative to the measurement, whatever its unit", "[unit]") {
  const auto small = calibrate::summarise(std::vector<Pair>{{2e-3, 3e-3}});
  const auto large = calibrate::summarise(std::vector<Pair>{{2e6, 3e6}});
  CHECK(small.mape == Approx(0.5).epsilon(1e-14));
  CHECK(large.mape == Approx(0.5).epsilon(1e-14));
}

TEST_CASE("A summary is one line of name=value", "[unit]") {
  const std::vector<Pair> pairs = {{10, 5}, {10, 9}, {10, 12}, {10, 20}};
  CHECK(calibrate::summary_line("tpot", calibrate::summarise(pairs), 3) ==
        "tpot: rows=4 skipped=3 mape=45.0% median=35.0% p90=85.0% bias=5.0% coverage90=n/a");
}

TEST_CASE("Without predictions a summary has no figures, and says so", "[unit]") {
  CHECK(calibrate::summary_line("ttft", calibrate::summarise({}), 2) ==
        "ttft: rows=0 skipped=2 mape=n/a median=n/a p90=n/a bias=n/a coverage90=n/a");
}

TEST_CASE("Only finite numbers above 0 are measured or forecast", "[unit]") {
  CHECK(calibrate::positive(1e-9));
  for (const double value : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    CHECK_FALSE(calibrate::positive(value));
  }
}

}  // namespace roofcast::unit_calibrate_error_summary
