// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "sim/replay/simulation_summary.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::sim::laws_replay_priority {
namespace {

constexpr const char* kMix = ", priorities: {values: [0, 5], weights: [4, 1]}";

// More than one GPU can serve, and a KV cache that is short of it.
StreamedScenario scenario(const std::string& queue, const std::string& mix) {
  return read_streamed_scenario(base::parse_document(
      "test",
      "system: hgx_h200\nmodel: llama-3.1-70b\nprecision: fp8\ndeployment: {tensor_parallel: 1}\n"
      "serving: {stack: vllm, memory_fraction: 0.61, scheduler: {queue: " +
          queue +
          "}}\ntraffic: {input_tokens: {lognormal: {mean: 1500, cv: 1, max: 16000}}, "
          "output_tokens: {uniform: [1, 400]}, arrivals: {process: poisson, rate: 5 /s}, "
          "requests: 400" +
          mix + "}\n"));
}

Simulation run(const std::string& queue, const std::string& mix) {
  const StreamedScenario s = scenario(queue, mix);
  return simulate(view(s.scenario), workloads::draw_requests(s.stream), s.stream.concurrency);
}

SimulationSummary of_priority(const Simulation& simulation, std::int64_t priority) {
  Simulation part;
  for (const ServedRequest& r : simulation.requests) {
    if (r.priority == priority) {
      part.requests.push_back(r);
    }
  }
  return summarise(part, 0, {});
}

}  // namespace

TEST_CASE("A queue by arrival does not heed priorities, and drawing them changes no request",
          "[laws]") {
  const Simulation plain = run("arrival", "");
  const Simulation mixed = run("arrival", kMix);
  REQUIRE(plain.requests.size() == mixed.requests.size());
  for (std::size_t i = 0; i < plain.requests.size(); ++i) {
    CHECK(plain.requests[i].input_tokens == mixed.requests[i].input_tokens);
    CHECK(plain.requests[i].last_token == mixed.requests[i].last_token);
  }
}

TEST_CASE("With equal priorities a queue by priority is one by arrival", "[laws]") {
  const Simulation arrival = run("arrival", "");
  const Simulation priority = run("priority", "");
  for (std::size_t i = 0; i < arrival.requests.size(); ++i) {
    CHECK(priority.requests[i].scheduled == arrival.requests[i].scheduled);
    CHECK(priority.requests[i].last_token == arrival.requests[i].last_token);
  }
}

TEST_CASE(
    "In an overloaded queue by priority the urgent wait less, the others more, and all are "
    "served",
    "[laws]") {
  const Simulation arrival = run("arrival", kMix);
  const Simulation priority = run("priority", kMix);
  const SimulationSummary urgent = of_priority(priority, 5);
  const SimulationSummary others = of_priority(priority, 0);
  CHECK(urgent.requests + others.requests == 400);
  CHECK(urgent.requests > 50);
  CHECK(urgent.requests < 110);  // a fifth was due for
  CHECK(urgent.waiting.mean < 0.2 * of_priority(arrival, 5).waiting.mean);
  CHECK(others.waiting.mean > of_priority(arrival, 0).waiting.mean);
  CHECK(urgent.end_to_end.mean < others.end_to_end.mean);
  std::int64_t output = 0;
  std::int64_t due = 0;
  for (const SimulatedSecond& second : priority.seconds) {
    output += second.output_tokens;
  }
  for (const ServedRequest& r : priority.requests) {
    due += r.output_tokens;
  }
  CHECK(output == due);
}

}  // namespace roofcast::sim::laws_replay_priority
