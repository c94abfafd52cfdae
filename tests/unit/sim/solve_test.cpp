// SPDX-License-Identifier: Apache-2.0
#include "sim/decide/solve.hpp"

#include <cmath>

#include "tests/catch.hpp"
#include "tests/conditions.hpp"

namespace roofcast::unit_sim_solve {

using Catch::Matchers::ContainsSubstring;
using sim::KnobRange;

namespace {

base::Node document() {
  return base::parse_document(
      "scenario.yaml", "traffic: {concurrency: 64, arrivals: {process: poisson, rate: 4 /s}}\n");
}
KnobRange range_of(const std::string& text) {
  base::Problems problems;
  const KnobRange range = sim::parse_knob_range({"--vary", text, {}}, document(), problems);
  problems.throw_if_any();
  return range;
}
std::string complaint(const std::string& text) {
  try {
    range_of(text);
    return "";
  } catch (const base::InputError& error) {
    return error.what();
  }
}
// An estimate whose TTFT is what a function makes of the knob's number.
template <class Function>
sim::EstimateAt ttft_by(Function function) {
  return [function](const std::string& value) {
    sim::ServingEstimate e;
    e.steady.ttft_mean = function(std::stod(value)) * base::second;
    return e;
  };
}

}  // namespace

TEST_CASE("A knob's range keeps the writing of its ends", "[unit]") {
  CHECK(range_of("traffic.arrivals.rate=1 /s..50 /s").text(3.5) == "3.5 /s");
  CHECK(range_of("traffic.arrivals.rate=1..50 /s").text(3.5) == "3.5 /s");
  CHECK(range_of("system.chip.hbm.bandwidth=x0.5..x4").text(1.25) == "x1.25");
  CHECK(range_of("traffic.concurrency=1..512").whole);
  CHECK(range_of("traffic.concurrency").text(64.0) == "64");
  CHECK(range_of("traffic.arrivals.rate").text(8.0) == "8 /s");
  CHECK(range_of("system=hgx_h100,hgx_h200").listed ==
        std::vector<std::string>{"hgx_h100", "hgx_h200"});
}

TEST_CASE("A range that is none is said to be none", "[unit]") {
  CHECK_THAT(complaint("traffic.concurrency=64..8"), ContainsSubstring("low end"));
  CHECK_THAT(complaint("traffic.concurrency=few..many"),
             ContainsSubstring("a number at both ends"));
  CHECK_THAT(complaint("traffic.arrivals.rate=1 /s..2 /min"), ContainsSubstring("same unit"));
  CHECK_THAT(complaint("traffic.requests"), ContainsSubstring("no value to start from"));
  CHECK_THAT(complaint("traffic.arrivals.process"), ContainsSubstring("no number to start from"));
  CHECK_THAT(complaint("system=a,,b"), ContainsSubstring("a list a,b"));
  CHECK_THAT(complaint("traffic.arrivals.rate=1..8"),
             ContainsSubstring("has a unit: 4 /s; give one"));
}

TEST_CASE("The edge of a rising metric is found from below, of a falling one from above",
          "[unit]") {
  const auto until = conditions({"ttft_mean_s <= 9"});
  const auto up_to =
      sim::boundary_of(range_of("k=0.1..1000.0"), until, ttft_by([](double x) { return x * x; }));
  CHECK(up_to.found);
  CHECK_FALSE(up_to.upwards);
  CHECK(std::stod(up_to.value) == Approx(3.0).epsilon(1e-4));
  CHECK(std::stod(up_to.value) <= 3.0);
  CHECK(up_to.changes == 1);
  const auto from =
      sim::boundary_of(range_of("k=1..1000"), until, ttft_by([](double x) { return 100.0 / x; }));
  CHECK(from.upwards);
  CHECK(from.value == "12");
  CHECK(from.beyond == "11");
}

TEST_CASE("What never or always holds, or holds in two places, is said", "[unit]") {
  const auto until = conditions({"ttft_mean_s <= 9"});
  const auto in = [&](auto function) {
    return sim::boundary_of(range_of("k=1..100"), until, ttft_by(function));
  };
  const auto never = in([](double x) { return 20.0 - 0.1 * x; });
  CHECK_FALSE(never.found);
  CHECK(never.value == "100");  // comes nearest
  CHECK(in([](double) { return 1.0; }).everywhere);
  const auto twice = in([](double x) { return x > 10.0 && x < 40.0 ? 20.0 : 1.0; });
  CHECK(twice.changes == 2);
  CHECK(twice.value == "10");
}

TEST_CASE(
    "A condition's slack is its distance to the bound, and a hundredth of the bound loosens it by "
    "that",
    "[unit]") {
  sim::ServingEstimate e;
  e.steady.ttft_mean = 8.0 * base::second;
  const auto all =
      conditions({"ttft_mean_s <= 10", "ttft_mean_s >= 10", "ttft_mean_s == 8", "fits"});
  CHECK(sim::slack(all[0], e) == Approx(0.2));
  CHECK(sim::slack(all[1], e) == Approx(-0.2));
  CHECK(sim::slack(all[2], e) == 0.0);
  CHECK(std::isnan(sim::slack(all[3], e)));
  CHECK(sim::loosened(all[0], 0.01).bound == Approx(10.1));
  CHECK(sim::loosened(all[1], 0.01).bound == Approx(9.9));
  CHECK(sim::loosened(all[2], 0.01).bound == 8.0);
}

}  // namespace roofcast::unit_sim_solve
