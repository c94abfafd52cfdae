// SPDX-License-Identifier: Apache-2.0
#include "calibrate/accuracy/architectures.hpp"

#include <cmath>

#include "tests/catch.hpp"

namespace roofcast::unit_calibrate_architectures {

using calibrate::ArchitectureScores;

namespace {

constexpr double kVariance = 0.5;

// 1000 rows with residuals spread evenly over ±`most`.
void add(ArchitectureScores& scores, const std::string& unmeasured, const std::string& kind,
         const std::string& architecture, double most, double own = 0.0) {
  for (int i = 0; i < 1000; ++i) {
    const double r = most * ((i + 0.5) / 500.0 - 1.0);
    scores.add(unmeasured, kind, architecture, architecture + ".vllm", r,
               {kind, own, own, kVariance});
  }
}

}  // namespace

// All rows of both signs count on each side, so 95 % of all rows are below 0.9 of the largest. With v = 1/2 and own = 0
// the score is √2 of that. One kind: the median of kinds is its own.
TEST_CASE("The spread holds nine in ten of evenly spread residuals, scaled to unrelated chips",
          "[unit]") {
  ArchitectureScores scores;
  for (const char* architecture : {"ada", "hopper"}) {
    add(scores, calibrate::kNone, "gemm", architecture, 0.4);
  }
  const auto spreads = scores.spreads();
  REQUIRE(spreads.size() == 1);
  CHECK(spreads[0].below == Approx(0.9 * 0.4 * std::sqrt(2.0)).epsilon(0.01));
  CHECK(spreads[0].above == Approx(spreads[0].below).epsilon(0.01));
}

TEST_CASE("What a calibration errs anyway is no part of the spread", "[unit]") {
  ArchitectureScores scores;
  add(scores, calibrate::kNone, "gemm", "ada", 0.4, 0.2);
  const double r = 0.9 * 0.4;
  CHECK(scores.spreads()[0].below ==
        Approx(std::sqrt((r * r - (1.0 - kVariance) * 0.2 * 0.2) / kVariance)).epsilon(0.01));
}

TEST_CASE("A kind with few architectures leans on the other kinds", "[unit]") {
  ArchitectureScores scores;
  for (const char* kind : {"gemm", "moe", "nccl"}) {
    add(scores, calibrate::kNone, kind, "ada", std::string(kind) == "nccl" ? 0.8 : 0.4);
    add(scores, "ada", kind, "hopper", 0.4);
  }
  add(scores, calibrate::kNone, "gdn", "ada", 0.4);
  for (const hardware::ArchitectureSpread& s : scores.spreads()) {
    const double plain = 0.9 * 0.4 * std::sqrt(2.0);
    if (s.unmeasured == calibrate::kNone && s.kind == "nccl") {
      CHECK(s.below < 2.0 * plain * 0.95);
      CHECK(s.below > plain * 1.05);
    } else if (s.unmeasured == "ada" && s.kind == "gdn") {
      // None of the others has it. A pseudo-architecture is all there is.
      CHECK(s.below == Approx(plain).epsilon(0.01));
    }
  }
}

}  // namespace roofcast::unit_calibrate_architectures
