// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/sampled_loop.hpp"

#include <string>

#include "sim/estimate.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::sim::unit_sim_serving_sampled_loop {
namespace {

Scenario scenario(const std::string& traffic, const std::string& more = "",
                  const std::string& stack = "stack: vllm") {
  return read_scenario(base::parse_document(
      "test",
      "system: hgx_h200\nmodel: llama-3.1-8b\nprecision: fp8\ndeployment: {tensor_parallel: 1" +
          more + "}\nserving: {" + stack + "}\ntraffic: {input_tokens: 1000, " + traffic + "}\n"));
}

SteadyState run(const Scenario& s) {
  Workspace workspace;
  const ServingEstimate e = estimate(view(s), workspace);
  INFO(reason(e));
  REQUIRE(e.fits());
  return e.steady;
}

constexpr const char* kDrawn = "output_tokens: {uniform: [50, 150]}, ";

}  // namespace

TEST_CASE("A sampled loop is the same again, also after others", "[unit]") {
  for (const std::string load : {"concurrency: 40", "arrivals: {process: poisson, rate: 12 /s}"}) {
    const Scenario s = scenario(kDrawn + load);
    REQUIRE(is_followed(view(s)));
    Workspace workspace;
    const SteadyState first = estimate(view(s), workspace).steady;
    run(scenario(kDrawn + std::string("concurrency: 7")));
    const SteadyState second = estimate(view(s), workspace).steady;
    CHECK(first.ttft_tail.p95 == second.ttft_tail.p95);
    CHECK(first.tpot == second.tpot);
    CHECK(first.requests_per_second == second.requests_per_second);
  }
}

TEST_CASE("Sampled clients obey Little's law", "[unit]") {
  for (const int clients : {1, 12, 300}) {
    const SteadyState r = run(scenario(kDrawn + ("concurrency: " + std::to_string(clients))));
    CHECK(r.requests_per_second * r.end_to_end.si() == Approx(clients));
    CHECK(r.running <= clients);
  }
}

TEST_CASE("Clients that do not find a place wait for one", "[unit]") {
  const Scenario s =
      scenario(kDrawn + std::string("concurrency: 64"), "", "stack: vllm, max_sequences: 16");
  const SteadyState r = run(s);
  CHECK(r.throughput_limit == Limit::slots);
  CHECK(r.running <= 16.0);
  CHECK(r.ttft_mean > 2.0 * (r.end_to_end - r.ttft_mean));
}

TEST_CASE(
    "What is not followed is said: ranks and stages are, waits for a prompt on every rank are not",
    "[unit]") {
  const std::string clients = kDrawn + std::string("concurrency: 8");
  const std::string waits = "stack: vllm, scheduler: {rank_wait_iterations: 10}";
  CHECK(is_followed(view(scenario(clients))));
  CHECK(is_followed(view(scenario(clients, "", waits))));
  CHECK(is_followed(view(scenario(clients, ", data_parallel: 2"))));
  CHECK(is_followed(view(scenario(clients, ", pipeline_parallel: 2"))));
  CHECK(!is_followed(view(scenario(clients, ", data_parallel: 2", waits))));
}

}  // namespace roofcast::sim::unit_sim_serving_sampled_loop
