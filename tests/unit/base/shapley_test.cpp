// SPDX-License-Identifier: Apache-2.0
#include "base/statistics/shapley.hpp"

#include <bit>
#include <numeric>

#include "base/statistics/random.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_base_shapley {

namespace {

std::vector<double> random_game(std::size_t players, std::uint64_t seed) {
  base::Random random(seed);
  std::vector<double> values(std::size_t{1} << players);
  for (double& value : values) {
    value = random.uniform();
  }
  return values;
}

}  // namespace

TEST_CASE("A pair of gloves is worth two thirds to who has the only left one", "[unit]") {
  // Player 0 has a left glove, 1 and 2 right ones; a pair is worth 1.
  std::vector<double> values(8, 0.0);
  values[0b011] = values[0b101] = values[0b111] = 1.0;
  const std::vector<double> shares = base::shapley_shares(values);
  CHECK(shares[0] == Approx(2.0 / 3.0));
  CHECK(shares[1] == Approx(1.0 / 6.0));
  CHECK(shares[2] == Approx(1.0 / 6.0));
  CHECK(base::interaction(values, 0, 1) == Approx(1.0));
  CHECK(base::interaction(values, 1, 2) == Approx(0.0));
}

TEST_CASE("Shapley shares sum to what all have beyond nobody", "[unit]") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<double> values = random_game(1 + seed % 7, seed);
    const std::vector<double> shares = base::shapley_shares(values);
    CHECK(std::accumulate(shares.begin(), shares.end(), 0.0) ==
          Approx(values.back() - values.front()).margin(1e-12));
  }
}

TEST_CASE("In a sum every player's share is his own, and nobody helps another", "[unit]") {
  const std::vector<double> own = {3.0, -1.0, 0.0, 2.5};
  std::vector<double> values(16, 0.0);
  for (std::size_t subset = 0; subset < values.size(); ++subset) {
    for (std::size_t i = 0; i < own.size(); ++i) {
      values[subset] += (subset >> i & 1U) != 0 ? own[i] : 0.0;
    }
  }
  const std::vector<double> shares = base::shapley_shares(values);
  for (std::size_t i = 0; i < own.size(); ++i) {
    CHECK(shares[i] == Approx(own[i]).margin(1e-12));
    CHECK(base::interaction(values, i, (i + 1) % own.size()) == Approx(0.0).margin(1e-12));
  }
  CHECK(base::greedy_order(values) == std::vector<std::size_t>{0, 3, 2, 1});
  const std::vector<double> takes = {10.0, 1.0, 1.0, 2.0};  // 0.3, −1, 0 and 1.25 for one
  CHECK(base::greedy_order(values, takes) == std::vector<std::size_t>{3, 0, 2, 1});
}

TEST_CASE("Every player stands once in the greedy order, who adds most next", "[unit]") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<double> values = random_game(5, seed);
    std::size_t joined = 0;
    for (const std::size_t next : base::greedy_order(values)) {
      CHECK((joined >> next & 1U) == 0);
      for (std::size_t i = 0; i < 5; ++i) {
        if ((joined >> i & 1U) == 0) {
          CHECK(values[joined | std::size_t{1} << next] >= values[joined | std::size_t{1} << i]);
        }
      }
      joined |= std::size_t{1} << next;
    }
    CHECK(joined == 31);
  }
}

}  // namespace roofcast::unit_base_shapley
