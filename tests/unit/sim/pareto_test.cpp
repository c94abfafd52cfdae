// SPDX-License-Identifier: Apache-2.0
#include "sim/decide/pareto.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

#include "tests/catch.hpp"

namespace roofcast::unit_sim_pareto {

using sim::Direction;
using sim::pareto_rank;

namespace {

using Ranks = std::vector<std::uint32_t>;

struct Points {
  std::vector<double> values;
  std::vector<Direction> directions;
  std::vector<std::uint32_t> groups;  // empty: one

  std::size_t objectives() const { return directions.size(); }
  std::size_t size() const { return values.size() / objectives(); }
  double at(std::size_t point, std::size_t objective) const {
    return values[point * objectives() + objective];
  }
  bool comparable(std::size_t point) const {
    for (std::size_t j = 0; j < objectives(); ++j) {
      if (!std::isfinite(at(point, j))) {
        return false;
      }
    }
    return true;
  }
  bool dominates(std::size_t q, std::size_t p) const {
    if (!comparable(q) || !comparable(p) || (!groups.empty() && groups[q] != groups[p])) {
      return false;
    }
    bool better = false;
    for (std::size_t j = 0; j < objectives(); ++j) {
      const bool maximize = directions[j] == Direction::maximize;
      if (maximize ? at(q, j) < at(p, j) : at(q, j) > at(p, j)) {
        return false;
      }
      better = better || at(q, j) != at(p, j);
    }
    return better;
  }
};

// The definition word for word: take the front away until nothing is left.
Ranks peeled(const Points& points) {
  Ranks ranks(points.size(), 0);
  std::vector<std::size_t> rest;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points.comparable(i)) {
      rest.push_back(i);
    }
  }
  for (std::uint32_t rank = 1; !rest.empty(); ++rank) {
    std::vector<std::size_t> beaten;
    for (const std::size_t p : rest) {
      const bool is_beaten = std::any_of(rest.begin(), rest.end(),
                                         [&](std::size_t q) { return points.dominates(q, p); });
      if (is_beaten) {
        beaten.push_back(p);
      } else {
        ranks[p] = rank;
      }
    }
    rest = beaten;
  }
  return ranks;
}

// Few distinct values make ties and equal points; some points have a NaN or an infinity.
Points random_points(std::mt19937_64& random, std::size_t n, std::size_t objectives, int levels,
                     int groups) {
  Points points;
  for (std::size_t j = 0; j < objectives; ++j) {
    points.directions.push_back(random() % 2 == 0 ? Direction::maximize : Direction::minimize);
  }
  const auto upto = [&](int count) {
    return static_cast<int>(random() % static_cast<std::uint64_t>(count));
  };
  for (std::size_t i = 0; i < n * objectives; ++i) {
    const int special = upto(100);
    const double inf = std::numeric_limits<double>::infinity();
    double value = upto(levels) - levels / 2;
    if (special == 0) {
      value = std::nan("");
    } else if (special <= 2) {
      value = special == 1 ? inf : -inf;
    } else if (special == 3) {
      value = -0.0;
    }
    points.values.push_back(value);
  }
  for (std::size_t i = 0; groups > 0 && i < n; ++i) {
    points.groups.push_back(static_cast<std::uint32_t>(upto(groups)) * 1000U);
  }
  return points;
}

Ranks ranks_of(const Points& points) {
  return pareto_rank(points.values, points.directions, {.groups = points.groups});
}

template <class Check>
void for_random_sets(Check&& check) {
  std::mt19937_64 random(20240607);
  for (std::size_t objectives = 1; objectives <= 5; ++objectives) {
    for (const int levels : {2, 5, 30, 1000000}) {
      for (const int groups : {0, 1, 4}) {
        for (const std::size_t n :
             {std::size_t{1}, std::size_t{7}, std::size_t{40}, std::size_t{300}}) {
          check(random_points(random, n, objectives, levels, groups), random);
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("ranks are those of taking away one front after another", "[unit]") {
  for_random_sets([](const Points& points, auto&) { REQUIRE(ranks_of(points) == peeled(points)); });
}

TEST_CASE("asking for fewer ranks tells the same ranks apart up to there", "[unit]") {
  for_random_sets([](const Points& points, auto&) {
    const Ranks all = ranks_of(points);
    for (const std::uint32_t max_rank : {1U, 2U, 5U, 4294967295U}) {
      Ranks expected = all;
      for (std::uint32_t& rank : expected) {
        rank = rank > max_rank ? max_rank + 1 : rank;
      }
      REQUIRE(pareto_rank(points.values, points.directions,
                          {.groups = points.groups, .max_rank = max_rank}) == expected);
    }
  });
}

TEST_CASE("the order of the points makes no difference to their ranks", "[unit]") {
  for_random_sets([](const Points& points, auto& random) {
    std::vector<std::size_t> order(points.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    Points shuffled{.values = {}, .directions = points.directions, .groups = {}};
    for (const std::size_t i : order) {
      for (std::size_t j = 0; j < points.objectives(); ++j) {
        shuffled.values.push_back(points.at(i, j));
      }
      if (!points.groups.empty()) {
        shuffled.groups.push_back(points.groups[i]);
      }
    }
    const Ranks ranks = ranks_of(points);
    const Ranks after = ranks_of(shuffled);
    for (std::size_t i = 0; i < order.size(); ++i) {
      REQUIRE(after[i] == ranks[order[i]]);
    }
  });
}

TEST_CASE(
    "no point is dominated by one of its own or a higher rank, and each by one of the rank before",
    "[unit]") {
  for_random_sets([](const Points& points, auto&) {
    const Ranks ranks = ranks_of(points);
    for (std::size_t p = 0; p < points.size(); ++p) {
      REQUIRE((ranks[p] == 0) == !points.comparable(p));
      bool by_rank_before = ranks[p] <= 1;
      for (std::size_t q = 0; q < points.size(); ++q) {
        if (points.dominates(q, p)) {
          REQUIRE(ranks[q] < ranks[p]);
          by_rank_before = by_rank_before || ranks[q] + 1 == ranks[p];
        }
      }
      REQUIRE(by_rank_before);
    }
  });
}

TEST_CASE("removing dominated points does not change the front", "[unit]") {
  for_random_sets([](const Points& points, auto& random) {
    const Ranks ranks = ranks_of(points);
    Points fewer{.values = {}, .directions = points.directions, .groups = {}};
    Ranks expected;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (ranks[i] > 1 && random() % 2 == 0) {
        continue;
      }
      for (std::size_t j = 0; j < points.objectives(); ++j) {
        fewer.values.push_back(points.at(i, j));
      }
      if (!points.groups.empty()) {
        fewer.groups.push_back(points.groups[i]);
      }
      expected.push_back(ranks[i] == 1 ? 1 : 0);
    }
    Ranks front = ranks_of(fewer);
    for (std::uint32_t& rank : front) {
      rank = rank == 1 ? 1 : 0;
    }
    REQUIRE(front == expected);
  });
}

TEST_CASE("a direction turns an objective around and nothing else", "[unit]") {
  for_random_sets([](const Points& points, auto&) {
    Points flipped = points;
    flipped.directions[0] =
        points.directions[0] == Direction::maximize ? Direction::minimize : Direction::maximize;
    for (std::size_t i = 0; i < points.size(); ++i) {
      flipped.values[i * points.objectives()] *= -1.0;
    }
    REQUIRE(ranks_of(flipped) == ranks_of(points));
  });
}

TEST_CASE("a chain has as many ranks as points, an antichain one", "[unit]") {
  for (std::size_t objectives = 2; objectives <= 4; ++objectives) {
    constexpr std::uint32_t kPoints = 2000;
    const std::vector<Direction> directions(objectives, Direction::minimize);
    std::vector<double> chain;
    std::vector<double> antichain;
    for (std::uint32_t i = 0; i < kPoints; ++i) {
      for (std::size_t j = 0; j < objectives; ++j) {
        chain.push_back(i);
        antichain.push_back(j == 0 ? i : -static_cast<double>(i));
      }
    }
    const Ranks ranks = pareto_rank(chain, directions);
    for (std::uint32_t i = 0; i < kPoints; ++i) {
      REQUIRE(ranks[i] == i + 1);
    }
    CHECK(pareto_rank(antichain, directions) == Ranks(kPoints, 1));
  }
}

TEST_CASE("no points have no ranks", "[unit]") {
  const std::vector<Direction> directions(3, Direction::minimize);
  CHECK(pareto_rank({}, directions).empty());
  const std::vector<double> none(6, std::nan(""));
  CHECK(pareto_rank(none, directions) == Ranks{0, 0});
}

TEST_CASE("values, directions and groups that do not fit together are refused", "[unit]") {
  const std::vector<double> values{1.0, 2.0, 3.0};
  const std::vector<Direction> one(1, Direction::minimize);
  const std::vector<Direction> two(2, Direction::minimize);
  const std::vector<std::uint32_t> groups{1, 2};
  CHECK_THROWS_AS(pareto_rank(values, {}), std::invalid_argument);
  CHECK_THROWS_AS(pareto_rank(values, two), std::invalid_argument);
  CHECK_THROWS_AS(pareto_rank(values, one, {.groups = groups}), std::invalid_argument);
  CHECK_THROWS_AS(pareto_rank(values, one, {.groups = {}, .max_rank = 0}), std::invalid_argument);
}

}  // namespace roofcast::unit_sim_pareto
