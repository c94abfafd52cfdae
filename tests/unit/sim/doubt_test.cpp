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
    "Equal requests at two pools are in doubt, but for one client; stages, ranks, drafts and "
    "priorities are not",
    "[unit]") {
  const std::string stages = "tensor_parallel: 1, pipeline_parallel: 2";
  const std::string ranks = "tensor_parallel: 1, data_parallel: 2";
  const auto lengths = [](int clients) {
    return fmt::format("input_tokens: 1000, output_tokens: 100, concurrency: {}", clients);
  };
  const std::string drafts =
      "stack: vllm, speculative: {method: ngram, draft_tokens: 2, acceptance: 0.5}";
  const std::string drawn =
      "input_tokens: 1000, output_tokens: {uniform: [50, 150]}, concurrency: 8";
  for (const std::string& deployment : {stages, ranks}) {
    CHECK(doubt(lengths(8), drafts, deployment).empty());
    CHECK(doubt(lengths(8), "stack: vllm", deployment).empty());
    CHECK(doubt(drawn, "stack: vllm", deployment).empty());
  }
  const auto pools = [](const std::string& prefill) {
    return fmt::format("prefill: {{{}}}, decode: {{tensor_parallel: 1}}", prefill);
  };
  CHECK(doubt(drawn, "stack: vllm", pools(stages)).empty());
  CHECK(doubt(drawn, "stack: vllm", pools(ranks)).empty());
  const std::string plain = "prefill: {tensor_parallel: 1}, decode: {tensor_parallel: 1}";
  CHECK(doubt(drawn, "stack: vllm", plain).empty());
  CHECK(doubt(lengths(8), "stack: vllm", plain).find("two pools") != std::string::npos);
  CHECK(doubt(lengths(1), "stack: vllm", plain).empty());
  CHECK(doubt(drawn, "stack: vllm, scheduler: {queue: priority}").empty());
}

// With some hundred or with more than 256 sequences, the longer iterations of which the host launches operator by operator.
TEST_CASE("Arrivals whose iterations can be short or long for good are in doubt", "[unit]") {
  const auto doubt_at = [](const char* system, double rate) {
    const Scenario s = read_scenario(base::parse_document(
        "test", fmt::format("system: {}\nmodel: llama-3.1-8b\nprecision: fp8\nserving: {{stack: "
                            "vllm}}\ndeployment: {{tensor_parallel: 1}}\ntraffic: {{input_tokens: "
                            "156, output_tokens: 154, arrivals: {{process: poisson, rate: {} "
                            "/s}}}}\n",
                            system, rate)));
    Workspace workspace;
    return std::string(doubt_of(view(s), estimate(view(s), workspace)));
  };
  CHECK(doubt_at("hgx_b200", 154.0).find("for good") != std::string::npos);
  CHECK(doubt_at("hgx_b200", 80.0).empty());
}

TEST_CASE("A fleet of agents whose turns fill the KV cache is in doubt", "[unit]") {
  const auto agents = [](int concurrent) {
    return doubt(
        fmt::format("agents: {{concurrent: {}, tasks: 100, turns: 8, initial_context: 8000, "
                    "output_tokens: 200, tool_tokens: 1000, tools: [{{time: 3 s}}]}}",
                    concurrent));
  };
  CHECK(agents(4).empty());
  CHECK(agents(400).find("KV cache") != std::string::npos);
}

TEST_CASE("Tasks of agents that arrive near saturation are in doubt, and fewer are not", "[unit]") {
  const auto arriving = [](double rate) {
    return doubt(
        fmt::format("agents: {{arrivals: {{process: poisson, rate: {} /s}}, turns: 8, "
                    "initial_context: 4000, output_tokens: 200, tool_tokens: 500, "
                    "tools: [{{time: 3 s}}]}}",
                    rate));
  };
  CHECK(arriving(0.2).empty());
  CHECK(!arriving(2.2).empty());
}

TEST_CASE("Clients whose requests differ are not in doubt", "[unit]") {
  CHECK(doubt("input_tokens: 1000, output_tokens: {uniform: [50, 150]}, concurrency: 200").empty());
  CHECK(doubt("input_tokens: 1000, output_tokens: 100, concurrency: 4").empty());
}

// Of SGLang's one front end, 256 prompts at once are seconds of work. With 128 clients they spread before any of them counts.
TEST_CASE("Clients are in doubt where those that began together still spread while they count",
          "[unit]") {
  const auto at = [](int clients) {
    const Scenario s = read_scenario(base::parse_document(
        "test", fmt::format("system: hgx_b200\nmodel: llama-3.1-8b\nprecision: fp8\n"
                            "deployment: {{tensor_parallel: 1}}\nserving: {{stack: sglang}}\n"
                            "traffic: {{input_tokens: {{uniform: [100, 300]}}, "
                            "output_tokens: {{uniform: [50, 150]}}, concurrency: {}}}\n",
                            clients)));
    Workspace workspace;
    return std::string(doubt_of(view(s), estimate(view(s), workspace)));
  };
  CHECK(at(128).empty());
  CHECK(at(256).find("still spread") != std::string::npos);
  CHECK(at(272).find("still spread") != std::string::npos);
}

TEST_CASE("Clients whose answers are all as long are in doubt where their prompts differ",
          "[unit]") {
  const std::string drawn = "input_tokens: {uniform: [200, 2000]}, ";
  const std::string few =
      "clients whose answers are all as long: those that began together spread "
      "over hundreds of requests";
  CHECK(doubt(drawn + "output_tokens: 100, concurrency: 40") == few);
  CHECK(doubt(drawn + "output_tokens: 100, concurrency: 1").empty());
  CHECK(doubt(drawn + "output_tokens: {uniform: [50, 150]}, concurrency: 40").empty());
  CHECK(doubt("input_tokens: 1000, output_tokens: 100, concurrency: 40").empty());
}

// From empty, requests that wait for more come to few sequences. Many keep themselves as well.
TEST_CASE("A scheduler that waits for more requests has two states, and the one from empty counts",
          "[unit]") {
  const Scenario s = read_scenario(base::parse_document(
      "test",
      "system: hgx_h100\nmodel: qwen3-30b-a3b\nprecision: fp8\ndeployment: {tensor_parallel: 4}\n"
      "serving: {stack: trtllm, replicas: 2, router: round robin, scheduler: {batch_wait_fill: "
      "0.5, batch_wait_iterations: 10, order: prompts first}, speculative: {method: eagle, "
      "draft_tokens: 7, acceptance: 0.3}}\ntraffic: {input_tokens: 1184, output_tokens: "
      "{lognormal: {cv: 2, max: 490, mean: 49}}, arrivals: {process: poisson, rate: 122 /s}}\n"));
  Workspace workspace;
  const ServingEstimate e = estimate(view(s), workspace);
  REQUIRE(e.fits());
  CHECK(e.steady.two_states);
  CHECK(e.steady.tpot < 60.0 * base::millisecond);
}

}  // namespace roofcast::sim::unit_sim_doubt
