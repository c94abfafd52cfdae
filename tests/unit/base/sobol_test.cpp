// SPDX-License-Identifier: Apache-2.0
#include "base/statistics/sobol.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "tests/catch.hpp"

namespace roofcast::base::unit_base_sobol {
namespace {

template <class Function>
SobolIndices indices_of(Function f, std::size_t inputs, std::size_t rows, std::uint64_t seed) {
  const SaltelliDesign design(inputs, seed);
  std::vector<double> values;
  for (std::size_t r = 0; r < rows; ++r) {
    for (const auto& point : design.row(r)) {
      values.push_back(f(point));
    }
  }
  return sobol_indices(values, inputs);
}

// Ishigami and Homma (1990), a = 7, b = 0.1; its indices follow by hand from the integrals of its terms.
double ishigami(const std::vector<double>& u) {
  const auto x = [&](std::size_t i) { return std::numbers::pi * (2.0 * u[i] - 1.0); };
  const double s = std::sin(x(1));
  return std::sin(x(0)) + 7.0 * s * s + 0.1 * std::pow(x(2), 4) * std::sin(x(0));
}

struct Analytic {
  double variance = 0.0;
  double first[3] = {};
  double total[3] = {};
};
Analytic ishigami_indices() {
  constexpr double a = 7.0;
  constexpr double b = 0.1;
  const double pi4 = std::pow(std::numbers::pi, 4);
  const double v1 = 0.5 * (1.0 + b * pi4 / 5.0) * (1.0 + b * pi4 / 5.0);
  const double v2 = a * a / 8.0;
  const double v13 = b * b * pi4 * pi4 * (1.0 / 18.0 - 1.0 / 50.0);
  const double v = v1 + v2 + v13;
  return {v, {v1 / v, v2 / v, 0.0}, {(v1 + v13) / v, v2 / v, v13 / v}};
}

}  // namespace

TEST_CASE("Sobol indices of the Ishigami function are its analytic ones", "[unit]") {
  const Analytic known = ishigami_indices();
  CHECK(known.first[0] == Approx(0.3139).margin(1e-4));  // as published
  CHECK(known.total[2] == Approx(0.2437).margin(1e-4));
  const SobolIndices found = indices_of(ishigami, 3, 8192, 1);
  CHECK(found.variance == Approx(known.variance).epsilon(0.01));
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(found.first[i].value == Approx(known.first[i]).margin(0.02));
    CHECK(found.total[i].value == Approx(known.total[i]).margin(0.02));
  }
}

TEST_CASE("The 90 % intervals of Sobol indices hold the analytic ones about nine times in ten",
          "[unit]") {
  const Analytic known = ishigami_indices();
  int inside = 0;
  int all = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const SobolIndices found = indices_of(ishigami, 3, 512, seed);
    for (std::size_t i = 0; i < 3; ++i) {
      inside += std::abs(found.first[i].value - known.first[i]) <= found.first[i].half_width90;
      inside += std::abs(found.total[i].value - known.total[i]) <= found.total[i].half_width90;
      all += 2;
    }
  }
  CHECK(inside > 0.82 * all);
  CHECK(inside < 0.97 * all);
}

TEST_CASE("Indices of a sum are the shares of its terms, first and total alike", "[unit]") {
  const auto f = [](const std::vector<double>& u) { return 3.0 * u[0] + 2.0 * u[1] + 5.0; };
  const SobolIndices found = indices_of(f, 3, 8192, 5);
  CHECK(found.first[0].value == Approx(9.0 / 13.0).margin(0.01));
  CHECK(found.first[1].value == Approx(4.0 / 13.0).margin(0.01));
  CHECK(found.total[0].value == Approx(9.0 / 13.0).margin(0.01));
  CHECK(found.total[2].value == Approx(0.0).margin(1e-12));  // has no part in it
}

TEST_CASE("A product of two has what neither does alone in the totals", "[unit]") {
  // Centred factors: no first order, all of the variance in both totals.
  const auto f = [](const std::vector<double>& u) { return (u[0] - 0.5) * (u[1] - 0.5); };
  const SobolIndices found = indices_of(f, 2, 16384, 3);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(found.first[i].value == Approx(0.0).margin(0.03));
    CHECK(found.total[i].value == Approx(1.0).margin(0.03));
  }
}

TEST_CASE("More rows make the intervals of Sobol indices narrower", "[unit]") {
  const auto widest = [](std::size_t rows) {
    double most = 0.0;
    for (const SobolIndex& each : indices_of(ishigami, 3, rows, 2).total) {
      most = std::max(most, each.half_width90);
    }
    return most;
  };
  CHECK(widest(8192) < 0.5 * widest(256));
}

TEST_CASE("A design is its seed's, and AB has one coordinate of B and the others of A", "[unit]") {
  CHECK(SaltelliDesign(3, 9).row(17) == SaltelliDesign(3, 9).row(17));
  CHECK(SaltelliDesign(3, 9).row(17) != SaltelliDesign(3, 10).row(17));
  const SaltelliDesign design(4, 1);
  std::vector<double> sums(8, 0.0);
  constexpr std::size_t kRows = 1024;
  for (std::size_t r = 0; r < kRows; ++r) {
    const auto points = design.row(r);
    REQUIRE(points.size() == design.points_per_row());
    for (std::size_t i = 0; i < 4; ++i) {
      sums[i] += points[0][i] / kRows;
      sums[4 + i] += points[1][i] / kRows;
      CHECK(points[2 + i][i] == points[1][i]);
      CHECK(points[2 + i][(i + 1) % 4] == points[0][(i + 1) % 4]);
    }
  }
  for (const double mean : sums) {
    CHECK(mean == Approx(0.5).margin(0.03));
  }
}

TEST_CASE("Rows that have no value are left out, and what does not vary has no indices", "[unit]") {
  const auto holed = [](const std::vector<double>& u) {
    return u[1] < 0.02 ? std::numeric_limits<double>::quiet_NaN() : u[0];
  };
  const SobolIndices found = indices_of(holed, 2, 1024, 1);
  CHECK(found.rows < 1000);
  CHECK(found.first[0].value == Approx(1.0).margin(0.02));
  const SobolIndices flat = indices_of([](const std::vector<double>&) { return 4.2; }, 2, 128, 1);
  CHECK(std::isnan(flat.first[0].value));
  CHECK(flat.variance == Approx(0.0).margin(1e-12));
}

}  // namespace roofcast::base::unit_base_sobol
