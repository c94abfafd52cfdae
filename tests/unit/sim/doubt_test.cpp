// SPDX-License-Identifier: Apache-2.0
#include "sim/confirm/doubt.hpp"

#include <fmt/format.h>

#include <string>

#include "sim/estimate.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::sim::unit_sim_doubt {
namespace {

// The doubt about Llama-3.1-8B on an H200 under this traffic.
std::string doubt(const std::string& traffic, const std::string& serving = "stack: vllm",
                  const std::string& deployment = "tensor_parallel: 1") {
  const Scenario s = read_scenario(base::parse_document(
      "test", fmt::format("system: hgx_h200\nmodel: llama-3.1-8b\nprecision: fp8\n"
                          "deployment: {{{}}}\nserving: {{{}}}\ntraffic: {{{}}}\n",
                          deployment, serving, traffic)));
  Workspace workspace;
  const ServingEstimate e = estimate(view(s), workspace);
  INFO(reason(e));
  REQUIRE(e.fits());
  return std::string(doubt_of(view(s), e));
}

double saturation() {
  const Scenario s = read_scenario(base::parse_document(
      "test",
      "system: hgx_h200\nmodel: llama-3.1-8b\nprecision: fp8\ndeployment: {tensor_parallel: 1}\n"
      "serving: {stack: vllm}\ntraffic: {input_tokens: 1000, output_tokens: 100, "
      "arrivals: {process: poisson, rate: 1 /s}}\n"));
  Workspace workspace;
  return estimate(view(s), workspace).steady.saturation;
}

}  // namespace

TEST_CASE("Arrivals are in doubt near saturation alone, or where a phase of them is", "[unit]") {
  const double most = saturation();
  const auto poisson = [&](double load) {
    return doubt(
        fmt::format("input_tokens: 1000, output_tokens: 100, "
                    "arrivals: {{process: poisson, rate: {} /s}}",
                    load * most));
  };
  CHECK(poisson(0.5).empty());
  CHECK(poisson(0.9) == "near saturation");
  const auto phases = [&](double busy) {
    return doubt(
        fmt::format("input_tokens: 1000, output_tokens: 100, arrivals: {{process: mmpp, "
                    "rates: [{} /s, {} /s], sojourns: [10 s, 10 s]}}",
                    0.2 * most, busy * most));
  };
  CHECK(phases(0.6).empty());
  CHECK(phases(1.1) == "a phase of the arrivals is near saturation");
}

TEST_CASE(
    "Clients of equal requests on pipeline stages, clients on attention-DP ranks and under "
    "priorities are in doubt, one client is not",
    "[unit]") {
  const std::string stages = "tensor_parallel: 1, pipeline_parallel: 2";
  const std::string ranks = "tensor_parallel: 1, data_parallel: 2";
  const auto lengths = [](int clients) {
    return fmt::format("input_tokens: 1000, output_tokens: 100, concurrency: {}", clients);
  };
  CHECK(doubt(lengths(8), "stack: vllm", stages).find("pipeline stages") != std::string::npos);
  CHECK(doubt(lengths(1), "stack: vllm", stages).empty());
  const std::string drawn =
      "input_tokens: 1000, output_tokens: {uniform: [50, 150]}, concurrency: 8";
  CHECK(doubt(drawn, "stack: vllm", stages).empty());
  const auto pools = [](const std::string& prefill) {
    return fmt::format("prefill: {{{}}}, decode: {{tensor_parallel: 1}}", prefill);
  };
  CHECK(doubt(drawn, "stack: vllm", pools(stages)).empty());
  for (const std::string& deployment : {ranks, pools(ranks)}) {
    CHECK(doubt(drawn, "stack: vllm", deployment).find("ranks") != std::string::npos);
  }
  const std::string plain = "prefill: {tensor_parallel: 1}, decode: {tensor_parallel: 1}";
  CHECK(doubt(drawn, "stack: vllm", plain).empty());
  CHECK(doubt(lengths(8), "stack: vllm", plain).find("two pools") != std::string::npos);
  CHECK(doubt(lengths(1), "stack: vllm", plain).empty());
  CHECK(doubt(lengths(8), "stack: vllm, scheduler: {queue: priority}") ==
        "priorities are left out");
}

TEST_CASE("Clients whose requests differ are not in doubt", "[unit]") {
  CHECK(doubt("input_tokens: 1000, output_tokens: {uniform: [50, 150]}, concurrency: 200").empty());
  CHECK(doubt("input_tokens: 1000, output_tokens: 100, concurrency: 4").empty());
}

}  // namespace roofcast::sim::unit_sim_doubt
