// SPDX-License-Identifier: Apache-2.0
#include "workloads/traffic/even_sample.hpp"

#include <algorithm>
#include <numeric>

#include "tests/catch.hpp"

namespace roofcast::workloads::unit_workloads_even_sample {
namespace {

Lengths lognormal(double mean, double cv, std::int64_t most) {
  Lengths lengths;
  lengths.shape = Lengths::Shape::lognormal;
  lengths.mean = mean;
  lengths.cv = cv;
  lengths.most = most;
  return lengths;
}

Lengths uniform(std::int64_t least, std::int64_t most) {
  Lengths lengths;
  lengths.shape = Lengths::Shape::uniform;
  lengths.least = least;
  lengths.most = most;
  return lengths;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

TEST_CASE("An even sample of lengths has the mean of its distribution", "[unit]") {
  base::Random random(1, "even");
  for (const Lengths& lengths : {uniform(1, 100), uniform(500, 1500), lognormal(300, 0.6, 5000),
                                 lognormal(40, 1.3, 400), measured_lengths({3, 5, 8, 900})}) {
    const auto values = even_lengths(lengths, 0, 2000, random);
    double drawn = 0.0;
    for (int i = 0; i < 100'000; ++i) {
      drawn += 1e-5 * static_cast<double>(draw(lengths, random));
    }
    CHECK(mean_of(values) == Approx(drawn).epsilon(0.02));
    CHECK(*std::min_element(values.begin(), values.end()) >= static_cast<double>(lengths.least));
    CHECK(*std::max_element(values.begin(), values.end()) <= static_cast<double>(lengths.most));
    CHECK(!std::is_sorted(values.begin(), values.end()));
  }
  Lengths fixed;
  CHECK(even_lengths(fixed, 77, 3, random) == std::vector<double>(3, 77.0));
}

TEST_CASE("An even sample of arrivals takes as long as its rate says", "[unit]") {
  base::Random random(2, "even");
  Arrivals arrivals;
  arrivals.rate = 5.0 * base::hertz;
  for (const ArrivalProcess process :
       {ArrivalProcess::constant, ArrivalProcess::poisson, ArrivalProcess::gamma}) {
    arrivals.process = process;
    arrivals.cv = 2.0;
    const auto times = even_arrivals(arrivals, 0.5, 1000, random);
    CHECK(times.size() == 1000);
    CHECK(times.back().si() == Approx(400.0));
    CHECK(std::is_sorted(times.begin(), times.end()));
  }
}

// Of drawn gaps, the variance of the longest blocks is off by half.
TEST_CASE("An even sample of arrivals has bursts of every length as its process has them",
          "[unit]") {
  constexpr std::size_t kGaps = 4096;
  Arrivals arrivals;
  arrivals.rate = 1.0 * base::hertz;
  arrivals.process = ArrivalProcess::gamma;
  for (const double cv : {0.5, 1.0, 3.0}) {
    arrivals.cv = cv;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      base::Random random(seed, "even");
      const auto times = even_arrivals(arrivals, 1.0, kGaps, random);
      for (std::size_t block = 1; block <= kGaps / 8; block *= 2) {
        double squares = 0.0;
        for (std::size_t i = 0; i < kGaps; i += block) {
          const double from = i > 0 ? times[i - 1].si() : 0.0;
          const double off = times[i + block - 1].si() - from - static_cast<double>(block);
          squares += off * off;
        }
        const double blocks = static_cast<double>(kGaps / block);
        const double whole = 1.0 - 1.0 / blocks;  // the sum of all blocks is exact
        INFO("cv " << cv << ", seed " << seed << ", block " << block);
        CHECK(squares / blocks ==
              Approx(cv * cv * static_cast<double>(block) * whole).epsilon(0.15));
      }
    }
  }
}

TEST_CASE("An even sample has six cycles of phases, as far as it may be long enough", "[unit]") {
  Arrivals arrivals;
  CHECK(whole_cycles(arrivals, 1.0, 5000, 20000) == 5000);
  arrivals.process = ArrivalProcess::mmpp;
  arrivals.rates = {10.0 * base::hertz, 50.0 * base::hertz};
  arrivals.sojourns = {20.0 * base::second, 20.0 * base::second};  // 1,200 requests a cycle
  CHECK(whole_cycles(arrivals, 1.0, 5000, 20000) == 7200);
  CHECK(whole_cycles(arrivals, 0.5, 5000, 20000) == 5000);
  CHECK(whole_cycles(arrivals, 1.0, 5000, 6000) == 6000);
}

TEST_CASE("An even sample of phases has each phase for its share of the time", "[unit]") {
  base::Random random(3, "even");
  Arrivals arrivals;
  arrivals.process = ArrivalProcess::mmpp;
  arrivals.rates = {1.0 * base::hertz, 9.0 * base::hertz};
  for (const double sojourn :
       {10.0, 500.0}) {  // of many cycles, and of fewer requests than a cycle has
    arrivals.sojourns = {sojourn * base::second, sojourn * base::second};
    const auto times = even_arrivals(arrivals, 1.0, 4000, random);
    CHECK(times.back().si() == Approx(800.0));
    // Gaps in the busy phase are short: nine requests in ten.
    std::size_t close = 0;
    for (std::size_t i = 1; i < times.size(); ++i) {
      close += (times[i] - times[i - 1]).si() < 0.35 ? 1U : 0U;
    }
    CHECK(close > 3200);
    CHECK(close < 3800);
  }
}

}  // namespace roofcast::workloads::unit_workloads_even_sample
