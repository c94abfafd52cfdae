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

TEST_CASE("A range with whole ends is whole where the knob is a count, and not where it is none",
          "[unit]") {
  const base::Node served = base::parse_document(
      "scenario.yaml",
      "system: hgx_h200\nmodel: llama-3.1-8b\nprecision: fp8\ndeployment: {tensor_parallel: 1}\n"
      "serving: {stack: vllm}\nprices: {base: us_colocation, pay: rental}\n"
      "traffic: {input_tokens: 512, output_tokens: 64, arrivals: {process: gamma, cv: 2, rate: 4 "
      "/s}}\n");
  const auto is_whole = [&](const std::string& text) {
    base::Problems problems;
    return sim::parse_knob_range({"--vary", text, {}}, served, problems).whole;
  };
  CHECK(is_whole("traffic.input_tokens=128..8192"));
  CHECK(is_whole("serving.replicas=1..8"));
  CHECK_FALSE(is_whole("traffic.arrivals.cv=1..4"));
  CHECK_FALSE(is_whole("traffic.arrivals.cv"));
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

TEST_CASE(
    "What never or always holds, or holds in two places, is said, with the end nearest the limit",
    "[unit]") {
  const auto until = conditions({"ttft_mean_s <= 9"});
  const auto in = [&](auto function) {
    return sim::boundary_of(range_of("k=1..100"), until, ttft_by(function));
  };
  const auto never = in([](double x) { return 20.0 - 0.1 * x; });
  CHECK_FALSE(never.found);
  CHECK(never.value == "100");  // comes nearest
  CHECK(in([](double) { return 1.0; }).everywhere);
  const auto up = in([](double x) { return 0.01 * x; });
  CHECK(up.everywhere);
  CHECK_FALSE(up.upwards);
  CHECK(up.value == "100");
  const auto down = in([](double x) { return 2.0 - 0.01 * x; });
  CHECK(down.everywhere);
  CHECK(down.upwards);
  CHECK(down.value == "1");
  const auto twice = in([](double x) { return x > 10.0 && x < 40.0 ? 20.0 : 1.0; });
  CHECK(twice.changes == 2);
  CHECK(twice.value == "10");
}

TEST_CASE("A window between two looks is found where its nearest look misses by least", "[unit]") {
  const auto until = conditions({"ttft_mean_s <= 9"});
  const auto valley = ttft_by([](double x) { return 8.9 + 3.0 * std::abs(std::log(x / 437.0)); });
  const auto any = sim::boundary_of(range_of("k=1.5..10000.5"), until, valley);
  REQUIRE(any.found);
  CHECK(any.upwards);
  CHECK(any.changes == 2);
  CHECK(std::stod(any.value) == Approx(437.0 * std::exp(-0.1 / 3.0)).epsilon(1e-4));
  const auto whole = sim::boundary_of(range_of("k=1..10000"), until, valley);
  REQUIRE(whole.found);
  CHECK(whole.value == "423");
  CHECK(whole.beyond == "422");
  const auto none =
      sim::boundary_of(range_of("k=1..10000"), conditions({"ttft_mean_s <= 8.8"}), valley);
  CHECK_FALSE(none.found);
  CHECK(none.value == "437");
  CHECK_FALSE(none.every);
  CHECK(none.looks > 33);
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
