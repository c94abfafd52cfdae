// SPDX-License-Identifier: Apache-2.0
#include "sim/solve.hpp"

#include <cmath>

#include "tests/catch.hpp"

using namespace roofcast;
using Catch::Matchers::ContainsSubstring;
using sim::KnobRange;

namespace {

base::Node document() {
  return base::parse_document(
      "scenario.yaml", "traffic: {concurrency: 64, arrivals: {process: poisson, rate: 4 /s}}\n");
}
KnobRange range_of(const std::string& text) {
  base::Problems problems;
  const KnobRange range = sim::parse_knob_range(text, document(), problems);
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
std::vector<sim::Condition> conditions(const std::vector<std::string>& texts) {
  std::vector<sim::Condition> all;
  base::Problems problems;
  for (const std::string& text : texts) {
    all.push_back(*sim::parse_condition(text, {}, problems));
  }
  return all;
}

// An estimate whose TTFT is what a function makes of the knob's number.
template <class Function>
sim::EstimateAt ttft_by(Function function) {
  return [function](const std::vector<std::string>& values) {
    sim::ServingEstimate e;
    e.steady.ttft_mean = function(std::stod(values.front())) * base::second;
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
  CHECK(range_of("system=hgx_h100,hgx_h200").values() ==
        std::vector<std::string>{"hgx_h100", "hgx_h200"});
  CHECK(range_of("serving.replicas=2..5").values() == std::vector<std::string>{"2", "3", "4", "5"});
  CHECK(range_of("traffic.concurrency=1..512").values().size() == 10);  // 1, 2, 4, …
}

TEST_CASE("A range that is none is said to be none", "[unit]") {
  CHECK_THAT(complaint("traffic.concurrency=64..8"), ContainsSubstring("low end"));
  CHECK_THAT(complaint("traffic.concurrency=few..many"),
             ContainsSubstring("a number at both ends"));
  CHECK_THAT(complaint("traffic.arrivals.rate=1 /s..2 /min"), ContainsSubstring("same unit"));
  CHECK_THAT(complaint("traffic.requests"), ContainsSubstring("no value to start from"));
  CHECK_THAT(complaint("traffic.arrivals.process"), ContainsSubstring("no number to start from"));
  CHECK_THAT(complaint("system=a,,b"), ContainsSubstring("a list a,b"));
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

TEST_CASE("Of all combinations that meet the conditions the least is taken", "[unit]") {
  const auto estimate_at = [](const std::vector<std::string>& values) {
    sim::ServingEstimate e;
    const double replicas = std::stod(values[0]);
    const double ranks = std::stod(values[1]);
    e.gpus = static_cast<std::int64_t>(replicas * ranks);
    e.steady.ttft_mean = 10.0 / replicas / std::sqrt(ranks) * base::second;
    return e;
  };
  const std::vector<KnobRange> ranges = {range_of("a=1..8"), range_of("b=1,2,4")};
  const auto best = sim::least_of(ranges, conditions({"ttft_mean_s <= 2"}), "gpus", estimate_at);
  CHECK(best.found);
  CHECK(best.tried == 24);
  CHECK(best.values == std::vector<std::string>{"5", "1"});
  const auto none = sim::least_of(ranges, conditions({"ttft_mean_s <= 0.1"}), "gpus", estimate_at);
  CHECK_FALSE(none.found);
  CHECK(none.values == std::vector<std::string>{"8", "4"});  // the nearest
}
