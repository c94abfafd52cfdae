// SPDX-License-Identifier: Apache-2.0
#include "sim/decide/front.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "tests/catch.hpp"

namespace roofcast::unit_sim_front {

using sim::Direction;
using sim::Tolerance;

namespace {

using Values = std::vector<double>;

const std::vector<Direction> kUpDown = {Direction::maximize, Direction::minimize};

struct Points {
  Values values;
  std::vector<Direction> directions;
  std::size_t d() const { return directions.size(); }
  std::size_t size() const { return values.size() / d(); }
  const double* row(std::size_t i) const { return values.data() + i * d(); }
};

// Of either sign, over some orders of magnitude, with zeros, ties and NaN.
Points random_points(std::mt19937_64& random, std::size_t n, std::size_t d) {
  Points points;
  for (std::size_t j = 0; j < d; ++j) {
    points.directions.push_back(random() % 2 == 0 ? Direction::maximize : Direction::minimize);
  }
  std::uniform_real_distribution<double> exponent(-3.0, 3.0);
  for (std::size_t i = 0; i < n * d; ++i) {
    const auto kind = random() % 20;
    const double value = std::pow(10.0, exponent(random));
    points.values.push_back(kind == 0   ? 0.0
                            : kind == 1 ? std::nan("")
                            : kind < 4  ? std::round(value)
                            : kind < 8  ? -value
                                        : value);
  }
  return points;
}

bool comparable(const Points& p, std::size_t i) {
  return std::none_of(p.row(i), p.row(i) + p.d(), [](double v) { return std::isnan(v); });
}

// Whether value a is worse than b by no more than the tolerance.
bool within(double a, double b, Direction direction, const Tolerance& tolerance) {
  const double x = direction == Direction::maximize ? -a : a;
  const double y = direction == Direction::maximize ? -b : b;
  if (x <= y) {
    return true;
  }
  const double slack =
      tolerance.relative ? std::max(std::abs(x), std::abs(y)) * tolerance.value : tolerance.value;
  return x - y <= slack * (1.0 + 1e-9);
}

std::vector<Tolerance> alike(std::size_t objectives, double share) {
  std::vector<Tolerance> tolerances;
  while (tolerances.size() < objectives) {
    tolerances.push_back({.value = share});
  }
  return tolerances;
}

}  // namespace

TEST_CASE("every point has one in the epsilon front that is hardly worse anywhere", "[unit]") {
  std::mt19937_64 random(5);
  for (std::size_t d = 1; d <= 4; ++d) {
    for (const std::size_t n : {1U, 10U, 300U}) {
      for (const double share : {0.0, 0.01, 0.5}) {
        const Points p = random_points(random, n, d);
        std::vector<Tolerance> tolerances = alike(d, share);
        tolerances[0] = {.value = share, .relative = d % 2 == 0};
        const auto kept = sim::epsilon_front(p.values, p.directions, tolerances);
        const auto ranks = sim::pareto_rank(p.values, p.directions, {.groups = {}, .max_rank = 1});
        for (std::size_t i = 0; i < p.size(); ++i) {
          bool covered = !comparable(p, i);
          for (const std::size_t k : kept) {
            bool near = true;
            for (std::size_t j = 0; j < d; ++j) {
              near = near && within(p.row(k)[j], p.row(i)[j], p.directions[j], tolerances[j]);
            }
            covered = covered || near;
          }
          REQUIRE(covered);
        }
        for (const std::size_t k : kept) {
          REQUIRE(comparable(p, k));
          REQUIRE(ranks[k] == 1);
        }
      }
    }
  }
}

TEST_CASE("an epsilon front of no tolerance is the front, once where points repeat", "[unit]") {
  const Values values = {1, 1, 2, 2, 2, 2, 3, 5, 2, 3};
  CHECK(sim::epsilon_front(values, kUpDown, std::vector<Tolerance>(2)) ==
        std::vector<std::size_t>{0, 1, 3});
}

TEST_CASE("a coarser epsilon front has fewer points, and each group has its own", "[unit]") {
  std::mt19937_64 random(9);
  std::uniform_real_distribution<double> uniform(1.0, 100.0);
  Values values;
  std::vector<std::uint32_t> groups;
  for (int i = 0; i < 500; ++i) {
    const double x = uniform(random);
    values.insert(values.end(), {x, x});  // more of one is more of the other: all on the front
    groups.push_back(i % 2 == 0 ? 3 : 8);
  }
  const auto count = [&](double share, std::span<const std::uint32_t> of) {
    return sim::epsilon_front(values, kUpDown, std::vector<Tolerance>(2, {.value = share}), of)
        .size();
  };
  CHECK(count(0.0, {}) == 500);
  CHECK(count(0.01, {}) < 500);
  CHECK(count(0.1, {}) < count(0.01, {}));
  CHECK(count(0.1, {}) <= 50);  // log(100) / log(1.1) boxes and one
  CHECK(count(1000.0, {}) == 1);
  CHECK(count(1000.0, groups) == 2);
}

TEST_CASE("adding dominated points changes neither share, knee nor epsilon front", "[unit]") {
  std::mt19937_64 random(13);
  for (std::size_t d = 2; d <= 4; ++d) {
    Points p = random_points(random, 60, d);
    const auto ranks = sim::pareto_rank(p.values, p.directions, {.groups = {}, .max_rank = 1});
    Values front;
    for (std::size_t i = 0; i < p.size(); ++i) {
      if (ranks[i] == 1) {
        front.insert(front.end(), p.row(i), p.row(i) + d);
      }
    }
    const sim::Extent box = sim::extent(p.values, p.directions);
    CHECK(sim::dominated_share(front, p.directions, box.best, box.worst) ==
          Approx(sim::dominated_share(p.values, p.directions, box.best, box.worst)));
    // The same points in the same order, whatever stands between them.
    const std::vector<Tolerance> tolerances = alike(d, 0.3);
    Values of_all;
    Values of_front;
    for (const std::size_t k : sim::epsilon_front(p.values, p.directions, tolerances)) {
      of_all.insert(of_all.end(), p.row(k), p.row(k) + d);
    }
    for (const std::size_t k : sim::epsilon_front(front, p.directions, tolerances)) {
      const double* row = front.data() + k * d;
      of_front.insert(of_front.end(), row, row + d);
    }
    CHECK(of_all == of_front);
  }
}

TEST_CASE("a point that is best in everything dominates the whole box, the reference nothing",
          "[unit]") {
  const Values best = {10.0, 1.0};
  const Values reference = {0.0, 3.0};
  CHECK(sim::dominated_share(best, kUpDown, best, reference) == Approx(1.0));
  CHECK(sim::dominated_share(reference, kUpDown, best, reference) == 0.0);
  // Half of each objective: a quarter of the box.
  CHECK(sim::dominated_share(Values{5.0, 2.0}, kUpDown, best, reference) == Approx(0.25));
  // An objective that never differs does not count.
  CHECK(sim::dominated_share(Values{5.0, 1.0}, kUpDown, best, Values{0.0, 1.0}) == Approx(0.5));
}

TEST_CASE("the knee of two objectives is farthest from the line through the ends", "[unit]") {
  // Ends (0, 10) and (10, 0); (2, 3) lies farthest below the line between them.
  const std::vector<Direction> down(2, Direction::minimize);
  CHECK(sim::knee(Values{0, 10, 1, 7, 2, 3, 6, 2, 10, 0}, down) == 2);
  // Scales and directions make no difference.
  CHECK(sim::knee(Values{0, 1, -10, 0.7, -20, 0.3, -60, 0.2, -100, 0}, kUpDown) == 2);
  CHECK(sim::knee(Values{std::nan(""), 1.0}, down) == sim::kNowhere);
  CHECK(sim::knee(Values{3.0, 4.0}, down) == 0);
}

TEST_CASE("a front that is twice as good in one objective moves by that at equal others",
          "[unit]") {
  Values before;
  Values after;
  for (double x = 1.0; x <= 10.0; ++x) {
    before.insert(before.end(), {x, x * x});
    after.insert(after.end(), {x, x * x / 2.0});
  }
  const sim::FrontMove move = sim::compare_fronts(before, after, kUpDown);
  CHECK(move.old_points.beaten == 10);
  CHECK(move.new_points.beaten == 0);
  CHECK(move.new_points.unmatched == 10);
  REQUIRE(move.shifts[1].size() == 10);
  CHECK(move.shifts[1].front() == Approx(0.5));
  CHECK(move.shifts[1].back() == Approx(0.5));
  // Of the first objective at the second: at x² there is now the largest y with y²/2 <= x².
  CHECK(move.shifts[0].back() == Approx(1.4));  // 5 → 7
}

TEST_CASE("a front compared with itself is equalled everywhere and moves nowhere", "[unit]") {
  std::mt19937_64 random(21);
  for (std::size_t d = 1; d <= 4; ++d) {
    const Points p = random_points(random, 200, d);
    const auto ranks = sim::pareto_rank(p.values, p.directions, {.groups = {}, .max_rank = 1});
    Values front;
    for (std::size_t i = 0; i < p.size(); ++i) {
      if (ranks[i] == 1) {
        front.insert(front.end(), p.row(i), p.row(i) + d);
      }
    }
    const sim::FrontMove move = sim::compare_fronts(front, front, p.directions);
    CHECK(move.old_points.equalled == front.size() / d);
    CHECK(move.new_points.equalled == front.size() / d);
    for (const auto& factors : move.shifts) {
      for (const double factor : factors) {
        CHECK(factor == 1.0);
      }
    }
  }
}

}  // namespace roofcast::unit_sim_front
