// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>

#include "models/footprint.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/replay/simulation_summary.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::sim::laws_replay_kv_offload {
namespace {

constexpr std::int64_t kUnit = 256;
constexpr std::int64_t kInput = 4 * kUnit + 100;

// A KV cache that is short of what the requests want.
StreamedScenario scenario(const std::string& serving) {
  return read_streamed_scenario(base::parse_document(
      "test",
      "system: hgx_h200\nmodel: llama-3.1-70b\nprecision: fp8\ndeployment: {tensor_parallel: 1}\n"
      "serving: {stack: vllm, memory_fraction: 0.61, " +
          serving + "}\ntraffic: {input_tokens: 1000, output_tokens: 100, concurrency: 1}\n"));
}

// Prompts of four units; request i asks again for those of request i − period.
workloads::Requests prompts(std::size_t count, std::size_t period, double gap) {
  workloads::Requests all;
  all.block_tokens = kUnit;
  for (std::size_t i = 0; i < count; ++i) {
    workloads::Request r;
    r.arrival = static_cast<double>(i) * gap * base::second;
    r.input_tokens = kInput;
    r.output_tokens = 200;
    r.first_block = all.blocks.size();
    r.block_count = 4;
    for (std::size_t unit = 0; unit < 4; ++unit) {
      all.blocks.push_back(10 * (i % period) + unit + 1);
    }
    all.requests.push_back(r);
  }
  return all;
}

Simulation simulated(const std::string& serving, const workloads::Requests& requests) {
  const StreamedScenario s = scenario(serving);
  Simulation simulation = simulate(view(s.scenario), requests, 0);
  REQUIRE(simulation.reason.empty());
  return simulation;
}

constexpr std::size_t kPeriod = 200;  // more than the KV cache holds

}  // namespace

TEST_CASE("Host memory of no size changes nothing", "[laws]") {
  const workloads::Requests requests = prompts(kPeriod + 50, kPeriod, 0.05);
  const Simulation without = simulated("replicas: 1", requests);
  const Simulation empty = simulated("kv_offload: {capacity: 0 B}", requests);
  CHECK(without.preemptions > 0);
  for (std::size_t i = 0; i < requests.requests.size(); ++i) {
    CHECK(empty.requests[i].scheduled == without.requests[i].scheduled);
    CHECK(empty.requests[i].first_token == without.requests[i].first_token);
    CHECK(empty.requests[i].last_token == without.requests[i].last_token);
    CHECK(empty.requests[i].restored_tokens == 0);
  }
}

TEST_CASE(
    "A prefix from host memory costs its bytes over the link, and no more than that above "
    "computing it again",
    "[laws]") {
  const workloads::Requests requests = prompts(kPeriod + 1, kPeriod, 10.0);
  const ServedRequest again = simulated("replicas: 1", requests).requests.back();
  CHECK(again.reused_tokens == 0);
  const StreamedScenario s = scenario("replicas: 1");
  const double bytes =
      models::cache_bytes(4.0 * kUnit, s.scenario.model, s.scenario.precision,
                          s.scenario.deployment.mapping, s.scenario.serving.stack.kv_block_tokens)
          .si();
  Workspace workspace;
  const double rest =
      iteration_cost(view(s.scenario), {0, 1, 0, 1, 100, 4 * kUnit, 1}, workspace).latency.si();
  const double overhead = workloads::request_time(s.scenario.serving.stack, kInput).si();
  for (const double rate : {63e9, 1e9, 1e7}) {
    const ServedRequest restored =
        simulated(fmt::format("kv_offload: {{capacity: 1 TB, bandwidth: {} MB/s}}", rate / 1e6),
                  requests)
            .requests.back();
    CHECK(restored.reused_tokens == 4 * kUnit);
    CHECK(restored.restored_tokens == 4 * kUnit);
    CHECK(restored.ttft().si() == Approx(overhead + bytes / rate + rest).epsilon(3e-3));
    CHECK(restored.ttft() <= again.ttft() + bytes / rate * base::second);
  }
  // Without a rate of its own it is the chip's PCIe port, 63 GB/s.
  CHECK(simulated("kv_offload: {capacity: 1 TB}", requests).requests.back().ttft().si() ==
        Approx(overhead + bytes / 63e9 + rest).epsilon(3e-3));
}

TEST_CASE("Host memory loses no request, and less is computed again after a preemption", "[laws]") {
  const workloads::Requests requests = prompts(kPeriod, kPeriod, 0.05);  // none shares a prefix
  const auto computed = [](const Simulation& simulation) {
    std::int64_t tokens = 0;
    for (const SimulatedSecond& second : simulation.seconds) {
      tokens += second.prompt_tokens;
    }
    return tokens;
  };
  const Simulation without = simulated("replicas: 1", requests);
  const Simulation with = simulated("kv_offload: {capacity: 1 TB}", requests);
  REQUIRE(without.preemptions > 0);
  CHECK(with.preemptions > 0);
  CHECK(computed(with) < computed(without));
  CHECK(with.peak_cache <= 1.0);
  std::int64_t output = 0;
  for (const SimulatedSecond& second : with.seconds) {
    output += second.output_tokens;
  }
  CHECK(output == 200 * static_cast<std::int64_t>(requests.requests.size()));
  for (const ServedRequest& r : with.requests) {
    CHECK_FALSE(r.rejected);
    CHECK(r.scheduled >= r.queued);
    CHECK(r.first_token > r.scheduled);
    CHECK(r.last_token > r.first_token);
  }
}

TEST_CASE("More host memory never finds less", "[laws]") {
  const workloads::Requests requests = prompts(3 * kPeriod, kPeriod, 0.5);
  double before = -1.0;
  for (const char* capacity : {"0 B", "10 GB", "20 GB", "1 TB"}) {
    const SimulationSummary summary = summarise(
        simulated(std::string("kv_offload: {capacity: ") + capacity + "}", requests), 0, {});
    CHECK(summary.requests == requests.requests.size());
    CHECK(summary.restored_share <= summary.prefix_hit_rate);
    CHECK(summary.prefix_hit_rate >= before);
    before = summary.prefix_hit_rate;
  }
  CHECK(before > 0.5);
}

}  // namespace roofcast::sim::laws_replay_kv_offload
