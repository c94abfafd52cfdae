// SPDX-License-Identifier: Apache-2.0
#include "hardware/spreads.hpp"

#include <cmath>

#include "tests/catch.hpp"

namespace roofcast::unit_hardware_spreads {

using namespace roofcast::hardware;

namespace {

KindError error_of(const char* kind, double low, double high) {
  KindError e;
  e.kind = kind;
  e.low = low;
  e.high = high;
  return e;
}

}  // namespace

TEST_CASE("An interval contains the errors of the rows and what two laboratories differ by",
          "[unit]") {
  REQUIRE(!spreads().repeated.empty());
  const RepeatedSpread& gemm = spreads().repeated.front();
  CHECK(gemm.kind == "gemm");
  CHECK(gemm.half_width > 0.05);
  const Ends ends = interval(error_of("gemm", std::exp(-0.12), std::exp(0.16)));
  CHECK(-std::log(ends.low) == Approx(std::hypot(0.12, gemm.half_width)));
  CHECK(std::log(ends.high) == Approx(std::hypot(0.16, gemm.half_width)));
  // A table whose rows are all slower than forecast still has both sides.
  CHECK(interval(error_of("gemm", 1.1, 1.3)).low == Approx(std::exp(-gemm.half_width)));
}

TEST_CASE("A kind that nobody measured twice keeps the interval of its rows", "[unit]") {
  const Ends ends = interval(error_of("nccl", 0.8, 1.25));
  CHECK(ends.low == Approx(0.8));
  CHECK(ends.high == Approx(1.25));
}

}  // namespace roofcast::unit_hardware_spreads
