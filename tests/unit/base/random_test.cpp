// SPDX-License-Identifier: Apache-2.0
#include "base/statistics/random.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <vector>

#include "tests/catch.hpp"

namespace roofcast::unit_base_random {

using roofcast::base::Discrete;
using roofcast::base::Random;
using roofcast::base::zipf;

namespace {

constexpr int kDraws = 200000;
// Standard errors that a sample of a right distribution may be off: 4 are exceeded once in 16,000 times.
constexpr double kSigmas = 4.0;

// The mean, the variance and the share at most `at` of a sample against those of the distribution,
// each within kSigmas of its own standard error.
void check_moments(const std::function<double()>& draw, double mean, double variance,
                   double kurtosis, double at, double share) {
  double sum = 0.0;
  double squares = 0.0;
  int below = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = draw();
    sum += x - mean;
    squares += (x - mean) * (x - mean);
    below += x <= at ? 1 : 0;
  }
  CHECK(std::abs(sum / kDraws) <= kSigmas * std::sqrt(variance / kDraws));
  CHECK(std::abs(squares / kDraws - variance) <=
        kSigmas * variance * std::sqrt((kurtosis - 1.0) / kDraws));
  CHECK(std::abs(below / static_cast<double>(kDraws) - share) <=
        kSigmas * std::sqrt(share * (1.0 - share) / kDraws));
}

}  // namespace

TEST_CASE("the generator is xoshiro256**", "[unit]") {
  // The first outputs of the authors' reference code from the state 1, 2, 3, 4, as rand_xoshiro of
  // rust-random/rngs tests them.
  Random random(std::array<std::uint64_t, 4>{1, 2, 3, 4});
  for (const std::uint64_t expected :
       {11520ULL, 0ULL, 1509978240ULL, 1215971899390074240ULL, 1216172134540287360ULL,
        607988272756665600ULL, 16172922978634559625ULL, 8476171486693032832ULL,
        10595114339597558777ULL, 2904607092377533576ULL}) {
    CHECK(random.bits() == expected);
  }
}

TEST_CASE("a stream depends on its seed and its name, and repeats", "[unit]") {
  const auto first = [](std::uint64_t seed, const char* name) { return Random(seed, name).bits(); };
  CHECK(first(1, "arrivals") == first(1, "arrivals"));
  CHECK(first(1, "arrivals") != first(2, "arrivals"));
  CHECK(first(1, "arrivals") != first(1, "lengths"));
  CHECK(first(0, "") == 16033096822923892273ULL);
  CHECK(first(1, "arrivals") == 5030812558634414735ULL);
}

TEST_CASE("two streams of one seed are not correlated", "[unit]") {
  Random a(7, "a");
  Random b(7, "b");
  double sum = 0.0;
  for (int i = 0; i < kDraws; ++i) {
    sum += (a.uniform() - 0.5) * (b.uniform() - 0.5);
  }
  CHECK(std::abs(sum / kDraws) <= kSigmas / 12.0 / std::sqrt(kDraws));
}

TEST_CASE("samples have the moments and a quantile of their distribution", "[unit]") {
  Random random(42, "moments");
  SECTION("uniform") {
    check_moments([&] { return random.uniform(2.0, 5.0); }, 3.5, 0.75, 1.8, 2.75, 0.25);
  }
  SECTION("exponential") {
    check_moments([&] { return random.exponential(3.0); }, 3.0, 9.0, 9.0, 3.0, 1.0 - std::exp(-1));
  }
  SECTION("normal") {
    check_moments([&] { return random.normal(1.0, 2.0); }, 1.0, 4.0, 3.0, 3.0,
                  0.5 * std::erfc(-std::sqrt(0.5)));
  }
  SECTION("lognormal") {
    const double w = 1.25;  // 1 + cv^2
    check_moments([&] { return random.lognormal(10.0, 0.5); }, 10.0, 25.0,
                  w * w * w * w + 2.0 * w * w * w + 3.0 * w * w - 3.0, 10.0 / std::sqrt(w), 0.5);
  }
  SECTION("gamma of a shape above 1") {
    // Erlang of 3 stages: 1 - e^-x (1 + x + x^2/2).
    check_moments([&] { return random.gamma(3.0, 2.0); }, 6.0, 12.0, 5.0, 6.0,
                  1.0 - 8.5 * std::exp(-3.0));
  }
  SECTION("gamma of a shape below 1") {
    // A half of a squared normal.
    check_moments([&] { return random.gamma(0.5, 2.0); }, 1.0, 2.0, 15.0, 1.0,
                  std::erf(std::sqrt(0.5)));
  }
  SECTION("whole numbers") {
    check_moments([&] { return static_cast<double>(random.integer(-2, 4)); }, 1.0, 4.0, 1.75, 0.0,
                  3.0 / 7.0);
  }
  SECTION("discrete") {
    const Discrete discrete(std::vector<double>{1.0, 0.0, 3.0});
    check_moments([&] { return static_cast<double>(discrete(random)); }, 1.5, 0.75, 7.0 / 3.0, 0.5,
                  0.25);
  }
}

TEST_CASE("uniform numbers are below 1 and exponential ones finite", "[unit]") {
  // The state that gives all ones: rotl(5 s1, 7) * 9 = 2^64 - 1.
  const std::uint64_t inverse_of_9 = 10248191152060862009ULL;
  const std::uint64_t inverse_of_5 = 14757395258967641293ULL;
  const std::uint64_t s1 = std::rotr(~0ULL * inverse_of_9, 7) * inverse_of_5;
  CHECK(Random(std::array<std::uint64_t, 4>{0, s1, 0, 0}).bits() == ~0ULL);
  CHECK(Random(std::array<std::uint64_t, 4>{0, s1, 0, 0}).uniform() == 1.0 - 0x1p-53);
  CHECK(std::isfinite(Random(std::array<std::uint64_t, 4>{0, s1, 0, 0}).exponential(1.0)));
}

TEST_CASE("whole numbers reach both ends of their range, however wide", "[unit]") {
  Random random(3);
  CHECK(random.integer(5, 5) == 5);
  bool least = false;
  bool most = false;
  for (int i = 0; i < 100; ++i) {
    const std::int64_t x = random.integer(0, 3);
    least = least || x == 0;
    most = most || x == 3;
    CHECK((x >= 0 && x <= 3));
  }
  CHECK(least);
  CHECK(most);
  const std::int64_t anything = random.integer(std::numeric_limits<std::int64_t>::min(),
                                               std::numeric_limits<std::int64_t>::max());
  CHECK(anything != random.integer(std::numeric_limits<std::int64_t>::min(),
                                   std::numeric_limits<std::int64_t>::max()));
}

TEST_CASE("ranks of a Zipf distribution fall with the power of the rank", "[unit]") {
  Random random(11, "zipf");
  const Discrete ranks = zipf(4, 2.0);
  std::vector<int> counts(4);
  for (int i = 0; i < kDraws; ++i) {
    ++counts[ranks(random)];
  }
  const double sum = 1.0 + 1.0 / 4.0 + 1.0 / 9.0 + 1.0 / 16.0;
  for (std::size_t k = 0; k < 4; ++k) {
    const double p = 1.0 / static_cast<double>((k + 1) * (k + 1)) / sum;
    CHECK(std::abs(counts[k] / static_cast<double>(kDraws) - p) <=
          kSigmas * std::sqrt(p * (1.0 - p) / kDraws));
  }
}

TEST_CASE("a discrete distribution without a positive finite sum is refused", "[unit]") {
  CHECK_THROWS_AS(Discrete(std::vector<double>{}), std::logic_error);
  CHECK_THROWS_AS(Discrete(std::vector<double>{0.0, 0.0}), std::logic_error);
  CHECK_THROWS_AS(Discrete(std::vector<double>{1.0, -1.0}), std::logic_error);
  CHECK_THROWS_AS(Discrete(std::vector<double>{std::nan("")}), std::logic_error);
}

}  // namespace roofcast::unit_base_random
