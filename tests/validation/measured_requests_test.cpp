// SPDX-License-Identifier: Apache-2.0
//
// Simulations against measured runs of vLLM 0.19, request by request (casys-kaist/LLMServingSim). Every case prints its
// error.
#include <cmath>

#include "base/statistics/quantile.hpp"
#include "calibrate/platforms/error_summary.hpp"
#include "calibrate/platforms/measurements.hpp"
#include "calibrate/servers/request_runs.hpp"
#include "tests/catch.hpp"

namespace roofcast::validation_measured_requests {

TEST_CASE(
    "A simulated minute of overload on an RTX PRO 6000 is the measured one, up to the 99th "
    "percentile",
    "[validation]") {
  const auto run = calibrate::measurements() / "requests" / "RTXPRO6000_Llama-3.1-8B";
  calibrate::ChipPlatforms platforms;
  const calibrate::Replay replay = calibrate::replay(calibrate::read_request_run(run, platforms));
  REQUIRE(replay.reason.empty());
  std::vector<double> ttft[2];
  std::vector<double> tpot[2];
  for (const calibrate::RequestPair& pair : replay.requests) {
    REQUIRE(!pair.rejected);
    ttft[0].push_back(pair.simulated.ttft().si());
    ttft[1].push_back(pair.measured.ttft().si());
    tpot[0].push_back(pair.tpot(pair.simulated).si());
    tpot[1].push_back(pair.tpot(pair.measured).si());
  }
  for (const double q : {0.5, 0.9, 0.99}) {
    const double first = base::quantile(ttft[0], q) / base::quantile(ttft[1], q);
    const double between = base::quantile(tpot[0], q) / base::quantile(tpot[1], q);
    WARN("p" << 100.0 * q << ", simulated/measured: TTFT " << first << ", TPOT " << between);
    // Under overload, TTFT has the error of TPOT two to three times.
    CHECK(std::abs(first - 1.0) < 0.15);
    CHECK(std::abs(between - 1.0) < 0.1);
  }
}

}  // namespace roofcast::validation_measured_requests
