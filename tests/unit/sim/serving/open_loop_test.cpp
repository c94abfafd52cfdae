// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "base/document/node.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"
#include "tests/unit/sim/serving/eight_h200.hpp"

namespace roofcast::unit_sim_serving_open_loop {

using Catch::Matchers::ContainsSubstring;
using sim::ServingEstimate;
using workloads::ArrivalProcess;

namespace {

sim::Scenario scenario(double per_second, std::int64_t input = 1500, std::int64_t output = 250) {
  workloads::Traffic traffic{input, output, 0, 0};
  traffic.arrivals.emplace().rate = per_second * base::hertz;
  return eight_h200(traffic);
}

}  // namespace

TEST_CASE("Requests that hardly ever come take what a lone client's take", "[unit]") {
  auto s = scenario(1e-6);
  const ServingEstimate rare = estimated(s);
  REQUIRE(rare.fits());
  s.traffic.arrivals.reset();
  s.traffic.concurrency = 1;
  const ServingEstimate lone = estimated(s);
  CHECK(rare.steady.tpot.si() == Approx(lone.steady.tpot.si()).epsilon(0.005));
  CHECK(rare.steady.ttft_mean.si() == Approx(lone.steady.ttft_mean.si()).epsilon(0.02));
  CHECK(rare.steady.ttft_tail.p99.si() == Approx(rare.steady.ttft_mean.si()).epsilon(0.01));
}

TEST_CASE("More arrivals wait longer and decode more slowly, up to the saturation", "[unit]") {
  const double most = estimated(scenario(1.0)).steady.saturation;
  REQUIRE(most > 1.0);
  base::Seconds ttft;
  base::Seconds tpot;
  for (const double load : {0.1, 0.3, 0.5, 0.7, 0.85, 0.95}) {
    const ServingEstimate e = estimated(scenario(load * most));
    REQUIRE(e.fits());
    INFO(load);
    CHECK(e.steady.utilisation == Approx(load));
    CHECK(e.steady.saturation == Approx(most));
    CHECK(e.steady.requests_per_second == Approx(load * most));
    CHECK(e.steady.ttft_mean > ttft);
    // At 0.95 all slots are taken most of the time, and equal answers begin to come in step.
    CHECK(e.steady.tpot > (load < 0.9 ? 1.0 : 0.9) * tpot);
    CHECK(e.steady.ttft_p50 < e.steady.ttft_tail.p95);
    CHECK(e.steady.ttft_tail.p95 < e.steady.ttft_tail.p99);
    CHECK(e.steady.tpot < e.steady.tpot_tail.p95);
    CHECK(e.steady.tpot_tail.p95 < e.steady.tpot_tail.p99);
    ttft = e.steady.ttft_mean;
    tpot = e.steady.tpot;
  }
}

TEST_CASE("More arrivals than can be served are a result with its reason", "[unit]") {
  const double most = estimated(scenario(1.0)).steady.saturation;
  const ServingEstimate e = estimated(scenario(1.01 * most));
  CHECK(std::holds_alternative<sim::infeasible::Load>(e.infeasible));
  CHECK_THAT(sim::reason(e), ContainsSubstring("requests arrive a second, at most"));
}

// 654 of seed 2 of `calibrate validate simulation`: in its busier phase no iteration with decodes takes all prompts.
TEST_CASE("A phase that sends more than iterations take has finite times", "[unit]") {
  const auto s = sim::read_scenario(base::parse_document("s.yaml", R"(
system: hgx_b200
model: glm-4.5-air
precision: fp8
serving: {stack: trtllm, replicas: 2}
deployment: {tensor_parallel: 1, data_parallel: 4, expert_parallel: 4}
traffic:
  input_tokens: {uniform: [2702, 8107]}
  output_tokens: {lognormal: {mean: 102, cv: 1, max: 612}}
  arrivals: {process: mmpp, rates: [30.4562 /s, 56.5615 /s], sojourns: [20 s, 20 s]}
)"));
  const ServingEstimate e = estimated(s);
  REQUIRE(e.fits());
  CHECK(e.steady.ttft_mean > base::Seconds{});
  CHECK(std::isfinite(e.steady.ttft_tail.p95.si()));
  CHECK(std::isfinite(e.steady.tpot.si()));
}

// 303 of seed 3 of `calibrate validate simulation --check-only`. Prompts come in each iteration, which then takes 26 ms; from
// the 3,000 sequences that a formula begins with, in place of 800, iterations without prompts came in between.
TEST_CASE("A sample that began with other numbers of sequences than decode in it begins again",
          "[unit]") {
  const auto with = [](const std::string& chip) {
    return estimated(sim::read_scenario(base::parse_document("s.yaml", R"(
model: qwen3-30b-a3b
precision: fp8
serving: {stack: trtllm, replicas: 2}
deployment: {tensor_parallel: 1, data_parallel: 4, expert_parallel: 4}
traffic:
  input_tokens: {lognormal: {mean: 526, cv: 0.6, max: 3156}}
  output_tokens: 65
  arrivals: {process: poisson, rate: 480 /s}
system: {base: hgx_b200, chip: )" + chip + "}\n")))
        .steady.end_to_end;
  };
  const base::Seconds now = with("b200_sxm");
  CHECK(now.si() == Approx(1.71).epsilon(0.015));  // simulated
  CHECK(with("{base: b200_sxm, nvlink: {bandwidth_bidirectional: 3600 GB/s}}") <= 1.01 * now);
  CHECK(with("{base: b200_sxm, hbm: {bandwidth: 12 TB/s}}") <= 1.01 * now);
}

TEST_CASE("Those who decode are the rate times the time of their decodes", "[unit]") {
  const ServingEstimate e = estimated(scenario(5.0));
  CHECK(e.steady.decode_batch == Approx(5.0 * 249.0 * e.steady.tpot.si()));
}

TEST_CASE("Twice the replicas serve twice the arrivals as well, on twice the GPUs", "[unit]") {
  auto one = scenario(4.0);
  one.platform = laws::platform("h200_cluster_128");
  auto two = one;
  two.serving.replicas = 2;
  two.traffic.arrivals->rate *= 2.0;
  const ServingEstimate single = estimated(one);
  const ServingEstimate pair = estimated(two);
  CHECK(pair.gpus == 2 * single.gpus);
  // Each replica gets every second arrival: these are more regular.
  CHECK(pair.steady.ttft_mean.si() == Approx(single.steady.ttft_mean.si()).epsilon(0.035));
  CHECK(pair.steady.tpot.si() == Approx(single.steady.tpot.si()).epsilon(0.035));
  CHECK(pair.steady.saturation == Approx(2.0 * single.steady.saturation).epsilon(0.05));
  CHECK(pair.output_rate == Approx(2.0 * single.output_rate));
  CHECK(pair.joules_per_token == Approx(single.joules_per_token).epsilon(0.02));
}

// On average: where clients stay in step, absent rows of tiles (models/operators/fixed_tiles.hpp) depend on how many do.
TEST_CASE("Clients of two replicas are served as half of them by one", "[unit]") {
  auto one = scenario(1.0);
  one.traffic.arrivals.reset();
  one.traffic.concurrency = 32;
  one.platform = laws::platform("h200_cluster_128");
  auto two = one;
  two.serving.replicas = 2;
  two.traffic.concurrency = 64;
  const ServingEstimate single = estimated(one);
  const ServingEstimate pair = estimated(two);
  CHECK(pair.steady.tpot.si() == Approx(single.steady.tpot.si()).epsilon(0.04));
  CHECK(pair.output_rate == Approx(2.0 * single.output_rate).epsilon(0.04));
  CHECK(pair.gpus == 16);
}

TEST_CASE("Bursty arrivals have longer tails", "[unit]") {
  auto s = scenario(10.0);
  const ServingEstimate poisson = estimated(s);
  s.traffic.arrivals->process = ArrivalProcess::gamma;
  s.traffic.arrivals->cv = 3.0;
  const ServingEstimate bursty = estimated(s);
  CHECK(bursty.steady.ttft_tail.p95 > poisson.steady.ttft_tail.p95);
}

TEST_CASE(
    "Regular arrivals wait less, unless prompts run first: then they are in step with the server",
    "[unit]") {
  for (const workloads::Serving& serving : laws::servings()) {
    INFO(serving.stack.id);
    auto s = scenario(10.0);
    s.serving = serving;
    const ServingEstimate poisson = estimated(s);
    s.traffic.arrivals->process = ArrivalProcess::constant;
    const ServingEstimate regular = estimated(s);
    if (serving.policy.order == workloads::ScheduleOrder::prompts_first) {
      // Each iteration of decodes is followed by one of prompts. TPOT is 201 ms in a simulation, 59 ms of Poisson arrivals.
      CHECK(regular.steady.tpot > 2.0 * poisson.steady.tpot);
    } else {
      CHECK(regular.steady.ttft_tail.p95 < poisson.steady.ttft_tail.p95);
    }
  }
}

TEST_CASE("Answers of one token have no TPOT and still wait for each other", "[unit]") {
  const ServingEstimate few = estimated(scenario(0.1, 2000, 1));
  const ServingEstimate many = estimated(scenario(8.0, 2000, 1));
  REQUIRE(few.fits());
  REQUIRE(many.fits());
  CHECK(many.steady.tpot.si() == 0.0);
  CHECK(many.steady.decode_batch == 0.0);
  CHECK(many.steady.ttft_mean > few.steady.ttft_mean);
}

}  // namespace roofcast::unit_sim_serving_open_loop
