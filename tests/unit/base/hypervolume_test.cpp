// SPDX-License-Identifier: Apache-2.0
#include "base/statistics/hypervolume.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "tests/catch.hpp"

namespace roofcast::unit_base_hypervolume {

using base::hypervolume;

namespace {

constexpr int kCells = 6;  // coordinates are 0 .. kCells, the reference is kCells everywhere

// Counts the unit cells that some point dominates.
double counted(const std::vector<double>& points, std::size_t d) {
  std::size_t cells = 1;
  for (std::size_t k = 0; k < d; ++k) {
    cells *= kCells;
  }
  double total = 0.0;
  for (std::size_t cell = 0; cell < cells; ++cell) {
    bool covered = false;
    for (std::size_t i = 0; i < points.size() && !covered; i += d) {
      covered = true;
      std::size_t rest = cell;
      for (std::size_t k = 0; k < d; ++k) {
        covered = covered && points[i + k] <= static_cast<double>(rest % kCells);
        rest /= kCells;
      }
    }
    total += covered ? 1.0 : 0.0;
  }
  return total;
}

// Whole coordinates, so ties and equal points abound; some points have a NaN or lie outside.
std::vector<double> random_points(std::mt19937_64& random, std::size_t n, std::size_t d) {
  std::vector<double> points;
  for (std::size_t i = 0; i < n * d; ++i) {
    const auto draw = random() % 60;
    points.push_back(draw == 0   ? std::nan("")
                     : draw == 1 ? std::numeric_limits<double>::infinity()
                                 : static_cast<double>(random() % (kCells + 1)));
  }
  return points;
}

std::vector<double> corner(std::size_t d) { return std::vector<double>(d, kCells); }

}  // namespace

TEST_CASE("the hypervolume is the number of unit cells that some point dominates", "[unit]") {
  std::mt19937_64 random(20260101);
  for (std::size_t d = 1; d <= 5; ++d) {
    for (const std::size_t n : {0U, 1U, 2U, 5U, 20U, 60U}) {
      for (int repeat = 0; repeat < 10; ++repeat) {
        const auto points = random_points(random, n, d);
        INFO(d << " coordinates, " << n << " points");
        REQUIRE(hypervolume(points, corner(d)) == Approx(counted(points, d)).margin(1e-9));
      }
    }
  }
}

TEST_CASE("a hypervolume grows with each point that is not dominated, and with no other",
          "[unit]") {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  for (std::size_t d = 1; d <= 5; ++d) {
    const std::vector<double> reference(d, 1.0);
    std::vector<double> points;
    double before = 0.0;
    for (int i = 0; i < 40; ++i) {
      std::vector<double> point(d);
      std::generate(point.begin(), point.end(), [&] { return uniform(random); });
      bool dominated = false;
      for (std::size_t j = 0; j < points.size(); j += d) {
        bool worse = true;
        for (std::size_t k = 0; k < d; ++k) {
          worse = worse && points[j + k] <= point[k];
        }
        dominated = dominated || worse;
      }
      points.insert(points.end(), point.begin(), point.end());
      const double after = hypervolume(points, reference);
      INFO(d << " coordinates, point " << i);
      if (dominated) {
        REQUIRE(after == Approx(before).epsilon(1e-12));
      } else {
        REQUIRE(after > before);
      }
      before = after;
    }
    REQUIRE(before < 1.0);
  }
}

TEST_CASE("a coordinate in which all points agree scales the hypervolume of the others", "[unit]") {
  std::mt19937_64 random(11);
  for (std::size_t d = 1; d <= 4; ++d) {
    const auto points = random_points(random, 40, d);
    std::vector<double> more;
    for (std::size_t i = 0; i < points.size(); ++i) {
      more.push_back(points[i]);
      if (i % d == d - 1) {
        more.push_back(2.0);
      }
    }
    CHECK(hypervolume(more, corner(d + 1)) ==
          Approx((kCells - 2.0) * hypervolume(points, corner(d))));
  }
}

TEST_CASE("a point that is infinitely good dominates an infinite volume", "[unit]") {
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(hypervolume(std::vector<double>{-inf, 1.0, 1.0}, corner(3)) == inf);
  CHECK(hypervolume(std::vector<double>{-inf, inf, 1.0}, corner(3)) == 0.0);
}

TEST_CASE("points that do not fit the reference, and one without an end, are refused", "[unit]") {
  CHECK_THROWS_AS(hypervolume(std::vector<double>{1.0, 2.0, 3.0}, corner(2)),
                  std::invalid_argument);
  CHECK_THROWS_AS(hypervolume({}, {}), std::invalid_argument);
  CHECK_THROWS_AS(hypervolume(std::vector<double>{1.0}, std::vector<double>{std::nan("")}),
                  std::invalid_argument);
}

}  // namespace roofcast::unit_base_hypervolume
