// SPDX-License-Identifier: Apache-2.0
//
// Closed forms of random lengths and arrivals beside draws of them.
#include <cmath>

#include "tests/catch.hpp"
#include "workloads/traffic/arrivals.hpp"
#include "workloads/traffic/lengths.hpp"

namespace roofcast::unit_workloads_burstiness {

using workloads::ArrivalProcess;
using workloads::Arrivals;
using workloads::Lengths;

namespace {

// Variance over mean of the numbers that arrive in windows one after another.
double counted_dispersion(const Arrivals& arrivals, double window) {
  workloads::ArrivalTimes times(arrivals, base::Random(3, "windows"));
  constexpr int kWindows = 40000;
  double sum = 0.0;
  double squares = 0.0;
  double next = times.next().si();
  for (int i = 1; i <= kWindows; ++i) {
    double count = 0.0;
    for (; next < window * i; next = times.next().si()) {
      count += 1.0;
    }
    sum += count;
    squares += count * count;
  }
  const double mean = sum / kWindows;
  return (squares / kWindows - mean * mean) / mean;
}

Arrivals arrivals_of(ArrivalProcess process, double cv = 1.0) {
  Arrivals arrivals;
  arrivals.process = process;
  arrivals.rate = 1.0 * base::hertz;
  arrivals.cv = cv;
  return arrivals;
}

Arrivals two_phases() {
  Arrivals arrivals;
  arrivals.process = ArrivalProcess::mmpp;
  arrivals.rates = {0.2 * base::hertz, 4.0 * base::hertz};
  arrivals.sojourns = {10.0 * base::second, 2.0 * base::second};
  return arrivals;
}

double dispersion(const Arrivals& arrivals, double window) {
  return workloads::burstiness(arrivals).dispersion(window * base::second);
}

Lengths lognormal(double mean, double cv, std::int64_t most) {
  Lengths lengths;
  lengths.shape = Lengths::Shape::lognormal;
  lengths.least = 1;
  lengths.most = most;
  lengths.mean = mean;
  lengths.cv = cv;
  return lengths;
}

}  // namespace

TEST_CASE("Dispersion of two phases is that of the numbers that arrive, in any window", "[unit]") {
  for (const double window : {0.5, 3.0, 20.0}) {
    INFO(window);
    CHECK(dispersion(two_phases(), window) ==
          Approx(counted_dispersion(two_phases(), window)).epsilon(0.06));
  }
}

TEST_CASE("Dispersion of gaps is that of the numbers that arrive, in windows of all lengths",
          "[unit]") {
  CHECK(dispersion(arrivals_of(ArrivalProcess::poisson), 7.0) == Approx(1.0));
  for (const double cv : {0.5, 1.5, 2.0, 4.0}) {
    const Arrivals gamma = arrivals_of(ArrivalProcess::gamma, cv);
    for (const double window : {0.1, 1.0, 30.0}) {
      INFO(cv << ", " << window);
      const double counted = counted_dispersion(gamma, window);
      CHECK(std::abs(dispersion(gamma, window) - counted) <=
            (cv < 1.0 ? 0.25 : 0.1) * std::abs(cv * cv - 1.0) + 0.1 * counted);
    }
  }
  CHECK(dispersion(arrivals_of(ArrivalProcess::constant), 1000.0) < 0.01);
}

TEST_CASE("Mean and variation of lengths are those of what is drawn, clamped or not", "[unit]") {
  Lengths uniform;
  uniform.shape = Lengths::Shape::uniform;
  uniform.least = 100;
  uniform.most = 900;
  for (const Lengths& lengths :
       {uniform, lognormal(1000.0, 0.5, 100000), lognormal(1000.0, 1.2, 3000)}) {
    base::Random random(1, "lengths");
    double sum = 0.0;
    double squares = 0.0;
    constexpr int kDraws = 200000;
    for (int i = 0; i < kDraws; ++i) {
      const auto tokens = static_cast<double>(workloads::draw(lengths, random));
      sum += tokens;
      squares += tokens * tokens;
    }
    const double mean = sum / kDraws;
    CHECK(workloads::mean(lengths) == Approx(mean).epsilon(0.01));
    CHECK(workloads::squared_variation(lengths) ==
          Approx(squares / kDraws / mean / mean - 1.0).epsilon(0.03));
  }
}

}  // namespace roofcast::unit_workloads_burstiness
