// SPDX-License-Identifier: Apache-2.0
//
// The installed interface says what the library says.
#include <cmath>
#include <roofcast/estimate.hpp>
#include <roofcast/metrics.hpp>
#include <roofcast/scenario.hpp>
#include <roofcast/simulate.hpp>
#include <roofcast/sweep.hpp>
#include <string>
#include <vector>

#include "sim/estimate.hpp"
#include "sim/replay/simulate.hpp"
#include "sim/result/causes.hpp"
#include "sim/result/metrics.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"
#include "tests/scratch_file.hpp"

namespace roofcast::unit_sim_interface {

namespace {

using Catch::Matchers::ContainsSubstring;

const std::string kScenario =
    "system: hgx_h200\nmodel: llama-3.1-70b\nprecision: fp8\ndeployment: {tensor_parallel: 8}\n"
    "serving: {stack: vllm}\ntraffic: {input_tokens: 512, output_tokens: 64, concurrency: 16}\n";

roofcast::Scenario scenario() { return roofcast::Scenario::parse(kScenario); }

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

TEST_CASE("The interface has every metric of an estimate, with its interval", "[unit]") {
  const roofcast::Estimate estimate = roofcast::estimate(scenario());
  const auto read = roofcast::sim::read_scenario(roofcast::base::parse_document("s", kScenario));
  roofcast::sim::Workspace workspace;
  auto e = roofcast::sim::estimate(roofcast::sim::view(read), workspace);
  roofcast::sim::tell_causes(roofcast::sim::view(read), e);
  REQUIRE(estimate.runs());
  std::size_t numbers = 0;
  for (const roofcast::sim::Metric& metric : roofcast::sim::metrics()) {
    if (!metric.bounds.empty()) {
      continue;
    }
    CAPTURE(std::string(metric.name));
    ++numbers;
    const roofcast::Number number = estimate[metric.name];
    CHECK(same(number.value, metric.value(e)));
    CHECK(number.unit == metric.unit);
    const auto [low, high] = roofcast::sim::interval90(metric, e);
    REQUIRE(number.interval90.has_value() == !std::isnan(low));
    if (number.interval90) {
      CHECK(number.interval90->low == low);
      CHECK(number.interval90->high == high);
    }
  }
  CHECK(roofcast::metrics().size() == numbers);
  CHECK(estimate["tpot_mean_s"].interval90.has_value());
}

TEST_CASE("A scenario of the interface is a value", "[unit]") {
  const roofcast::Scenario before = scenario();
  const roofcast::Scenario after = before.with("system.chip.hbm.bandwidth", "x2");
  const double slow = roofcast::estimate(before)["tpot_mean_s"].value;
  CHECK(roofcast::estimate(after)["tpot_mean_s"].value < slow);
  CHECK(before.yaml() == scenario().yaml());
  CHECK(roofcast::estimate(roofcast::Scenario::parse(before.yaml()))["tpot_mean_s"].value == slow);
  const roofcast::Scratch file(kScenario);
  CHECK(roofcast::estimate(roofcast::Scenario(file.file()))["tpot_mean_s"].value == slow);
}

TEST_CASE("What cannot run is a result of the interface, and bad input its error", "[unit]") {
  const roofcast::Estimate estimate =
      roofcast::estimate(scenario().with("deployment.tensor_parallel", "7"));
  CHECK(!estimate.runs());
  CHECK(!estimate.reason().empty());
  CHECK(std::isnan(estimate["tpot_mean_s"].value));

  using roofcast::InputError;
  CHECK_THROWS_AS(roofcast::Scenario("no/such/file.yaml"), InputError);
  CHECK_THROWS_AS(roofcast::Scenario::parse("a: [1"), InputError);
  CHECK_THROWS_WITH(scenario().with("system.chip.hbm.bandwidht", "x2"),
                    ContainsSubstring("did you mean \"bandwidth\""));
  CHECK_THROWS_AS(roofcast::estimate(scenario().with("traffic.concurrency", "-1")), InputError);
  CHECK_THROWS_WITH(roofcast::metric("tpot_mean"), ContainsSubstring("tpot_mean_s"));
  CHECK_THROWS_AS(estimate["tpot_mean"], InputError);
  try {
    roofcast::estimate(roofcast::Scenario::parse("system: hgx_h2O\n", "mine.yaml"));
    FAIL();
  } catch (const InputError& error) {
    const roofcast::Problem& first = error.problems().front();
    CHECK(first.file == "mine.yaml");
    CHECK((first.line == 1 && first.column == 9));
    CHECK(first.path == "system");
    CHECK(first.excerpt == "  system: hgx_h2O\n          ^\n");
    CHECK_THAT(error.what(), ContainsSubstring(first.message));
  }
}

TEST_CASE("A simulation of the interface serves the scenario's requests", "[unit]") {
  const roofcast::Scenario some = scenario().with("traffic.requests", "200");
  const roofcast::Simulation run = roofcast::simulate(some, {.warm_up = 50, .seed = {}});
  REQUIRE(run.runs());
  CHECK(run.requests.size() == 200);
  CHECK(run.served == 150);
  CHECK(run.tpot.p50 <= run.tpot.p99);
  double tpot = 0.0;
  for (std::size_t i = 50; i < run.requests.size(); ++i) {
    const roofcast::SimulatedRequest& r = run.requests[i];
    tpot += (r.last_token - r.first_token) / static_cast<double>(r.output_tokens - 1);
  }
  CHECK(run.tpot.mean == Approx(tpot / 150));
  const auto read =
      roofcast::sim::read_streamed_scenario(roofcast::base::parse_document("s", some.yaml()));
  const auto library = roofcast::sim::simulate(roofcast::sim::view(read.scenario),
                                               roofcast::workloads::draw_requests(read.stream), 16);
  CHECK(run.requests.back().last_token == library.requests.back().last_token.si());
  CHECK(!roofcast::simulate(some.with("deployment.tensor_parallel", "7")).runs());
}

TEST_CASE("A sweep of the interface is the estimates of its points", "[unit]") {
  roofcast::Sweep question{scenario()};
  question.axes = {{"system", {"hgx_h100", "hgx_h200"}},
                   {"deployment.tensor_parallel", {"7", "8"}},
                   {"traffic.concurrency", {"1", "x4"}}};
  question.where = {"tpot_mean_s <= 0.01"};
  const roofcast::SweepResult result = roofcast::sweep(question, 2);
  REQUIRE(result.points() == 8);
  CHECK(result.axes() ==
        std::vector<std::string>{"system", "deployment.tensor_parallel", "traffic.concurrency"});
  const std::vector<double> tpot = result.column("tpot_mean_s");
  const std::vector<double> high = result.column("high90_tpot_mean_s");
  std::size_t front = 0;
  for (std::size_t i = 0; i < result.points(); ++i) {
    roofcast::Scenario point = scenario();
    for (std::size_t axis = 0; axis < question.axes.size(); ++axis) {
      const std::string& value = question.axes[axis].values[axis == 0   ? i / 4
                                                            : axis == 1 ? i / 2 % 2
                                                                        : i % 2];
      point = point.with(question.axes[axis].path, value);
    }
    CAPTURE(i);
    const roofcast::Estimate estimate = roofcast::estimate(point);
    CHECK(same(tpot[i], estimate["tpot_mean_s"].value));
    CHECK(result.runs(i) == estimate.runs());
    CHECK(result.meets(i) == (tpot[i] <= 0.01));
    CHECK(result.reason(i).empty() == result.meets(i));
    CHECK((!result.runs(i) || high[i] > tpot[i]));
    CHECK((result.meets(i) || !result.on_front(i)));
    front += result.on_front(i) ? 1 : 0;
  }
  CHECK(result.value(5, 0) == "hgx_h200");
  CHECK(front > 0);
  CHECK_THROWS_AS(result.value(8, 0), std::out_of_range);
  CHECK_THROWS_AS(result.column("tpot"), roofcast::InputError);

  question.where = {"tpot_mean <= 0.01"};
  CHECK_THROWS_WITH(roofcast::sweep(question), ContainsSubstring("tpot_mean_s"));
  question.where = {};
  question.axes[0].values = {"no_such_system"};
  CHECK_THROWS_AS(roofcast::sweep(question), roofcast::InputError);
}

}  // namespace roofcast::unit_sim_interface
