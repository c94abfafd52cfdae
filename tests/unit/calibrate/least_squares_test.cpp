// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit/least_squares.hpp"

#include <cmath>

#include "tests/catch.hpp"

namespace roofcast::unit_calibrate_least_squares {

using calibrate::SolverOptions;
using calibrate::Unknown;

namespace {

constexpr double kInfinite = 1e300;

// y = b1·(1 − exp(−b2·x)); NIST Statistical Reference Datasets, Misra1a, certified values below.
constexpr double kX[] = {77.6,  114.9, 141.1, 190.8, 239.9, 289.0, 332.8,
                         378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760.0};
constexpr double kY[] = {10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02,
                         44.82, 50.76, 55.05, 61.01, 66.40, 75.47, 81.78};

// time = latency + bytes/rate at sizes of a geometric series, as ln(predicted/measured); every
// `bad`-th measurement is five times too long.
calibrate::Residuals line(double latency, double rate, int bad) {
  return [=](std::span<const double> p) {
    std::vector<double> r;
    for (int i = 0; i < 60; ++i) {
      const double bytes = 1e3 * std::pow(1.3, i);
      const double measured = (latency + bytes / rate) * (bad > 0 && i % bad == 0 ? 5.0 : 1.0);
      r.push_back(std::log((p[0] + bytes / p[1]) / measured));
    }
    return r;
  };
}

}  // namespace

TEST_CASE("The certified values of NIST's Misra1a are found from either of its starts", "[unit]") {
  const auto residuals = [](std::span<const double> b) {
    std::vector<double> r;
    for (std::size_t i = 0; i < std::size(kX); ++i) {
      r.push_back(b[0] * (1.0 - std::exp(-b[1] * kX[i])) - kY[i]);
    }
    return r;
  };
  for (const auto& [b1, b2] : {std::pair{500.0, 1e-4}, std::pair{250.0, 5e-4}}) {
    const auto found = calibrate::solve({{b1, 1.0, 1e5, 1e6}, {b2, 1e-8, 1.0, 1e6}}, residuals,
                                        {.huber = kInfinite, .max_iterations = 200});
    CHECK(found.values[0] == Approx(238.94212918).epsilon(1e-4));
    CHECK(found.values[1] == Approx(5.5015643181e-4).epsilon(1e-4));
  }
}

TEST_CASE("Planted parameters are found again, and a sixth of outliers hardly moves them",
          "[unit]") {
  const std::vector<Unknown> start = {{1e-6, 1e-9, 1e-3, 100.0}, {1e12, 1e9, 1e15, 100.0}};
  const auto clean = calibrate::solve(start, line(4e-6, 3e12, 0));
  CHECK(clean.values[0] == Approx(4e-6).epsilon(1e-4));
  CHECK(clean.values[1] == Approx(3e12).epsilon(1e-4));
  const auto robust = calibrate::solve(start, line(4e-6, 3e12, 6));
  CHECK(robust.values[0] == Approx(4e-6).epsilon(0.05));
  CHECK(robust.values[1] == Approx(3e12).epsilon(0.05));
}

TEST_CASE("A parameter that the rows do not tell stays where it was, without a bound", "[unit]") {
  const auto residuals = [](std::span<const double> p) {
    return std::vector<double>{std::log(p[0] / 2.0), std::log(p[0] / 2.02), std::log(p[0] / 1.98)};
  };
  const auto found = calibrate::solve({{1.0, 0.01, 100.0}, {7.0, 0.01, 100.0}}, residuals);
  CHECK(found.values[0] == Approx(2.0).epsilon(0.3));
  CHECK(found.values[1] == Approx(7.0));
  CHECK(std::isfinite(found.uncertainty[0]));
  CHECK(std::isinf(found.uncertainty[1]));
}

TEST_CASE("A parameter that is known well beforehand moves less, by rows that tell little",
          "[unit]") {
  const auto residuals = [](std::span<const double> p) {
    return std::vector<double>{0.3 * std::log(p[0] / 2.0)};
  };
  double before = 2.0;
  for (const double prior : {10.0, 1.0, 0.1, 0.01}) {
    const auto found = calibrate::solve({{1.0, 0.01, 100.0, prior}}, residuals,
                                        {.huber = kInfinite, .noise = 0.1, .least_spread = 0.1});
    CHECK(found.values[0] <= before);
    CHECK(found.values[0] >= 1.0);
    before = found.values[0];
  }
  CHECK(before < 1.01);
}

TEST_CASE("Few rows that agree by chance claim no more than rows are known to tell", "[unit]") {
  const auto residuals = [](std::span<const double> p) {
    return std::vector<double>{std::log(p[0] / 2.0)};
  };
  const auto found = calibrate::solve({{1.0, 0.01, 100.0}}, residuals, {.least_spread = 0.1});
  CHECK(found.uncertainty[0] == Approx(1.645 * 0.1).epsilon(0.02));
}

TEST_CASE("A parameter stays within its range", "[unit]") {
  const auto found = calibrate::solve({{0.5, 0.1, 1.0}}, [](std::span<const double> p) {
    return std::vector<double>(10, std::log(p[0] / 3.0));
  });
  CHECK(found.values[0] == Approx(1.0));
}

}  // namespace roofcast::unit_calibrate_least_squares
