// SPDX-License-Identifier: Apache-2.0
//
// Prompts of agents: which turns an estimate takes for all of them, and what they find in the KV cache.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "sim/estimate.hpp"
#include "sim/replay/simulation_summary.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"
#include "tests/laws/cases/simulations.hpp"

namespace roofcast::sim::laws_replay_agents_prompts {
namespace {

StreamedScenario scenario(int agents, int tasks, const std::string& turns, int context) {
  return read_streamed_scenario(base::parse_document(
      "test", fmt::format("system: hgx_h200\nmodel: llama-3.1-70b\nprecision: fp8\n"
                          "deployment: {{tensor_parallel: 8}}\nserving: {{stack: vllm}}\n"
                          "traffic: {{seed: 5, agents: {{concurrent: {}, tasks: {}, turns: {}, "
                          "initial_context: {}, shared_context: 0, output_tokens: {{uniform: "
                          "[50, 400]}}, tool_tokens: {{uniform: [100, 1000]}}, tools: [{{time: 3 "
                          "s, cv: 1}}]}}}}\n",
                          agents, tasks, turns, context)));
}

SteadyState steady(const StreamedScenario& s, base::Seconds& task) {
  Workspace workspace;
  const ServingEstimate e = estimate(view(s.scenario), workspace);
  REQUIRE(e.fits());
  task = e.task.mean;
  return e.steady;
}

}  // namespace

TEST_CASE("A turn more lengthens a task by about a turn, and changes no percentile by much",
          "[laws]") {
  base::Seconds before;
  base::Seconds task;
  const SteadyState first = steady(scenario(16, 400, "27", 15000), before);
  for (const int turns : {28, 29, 30, 31, 32}) {
    const SteadyState r = steady(scenario(16, 400, std::to_string(turns), 15000), task);
    INFO(turns);
    CHECK(task > before);
    CHECK(r.tpot_tail.p95 / first.tpot_tail.p95 == Approx(1.0).margin(0.1));
    CHECK(r.ttft_tail.p95 / first.ttft_tail.p95 == Approx(1.0).margin(0.15));
    before = task;
  }
}

// One in 20 turns begins a task: TTFT p99 is that of its prompt, which finds nothing.
TEST_CASE("The first prompt of a task attends to itself alone", "[laws]") {
  const StreamedScenario s = scenario(1, 60, "20", 40000);
  base::Seconds task;
  const SteadyState r = steady(s, task);
  const SimulationSummary summary = summarise(laws::run(s), 0, {});
  CHECK(r.ttft_tail.p99 / summary.ttft.p99 == Approx(1.0).margin(0.05));
  CHECK(r.ttft_mean / summary.ttft.mean == Approx(1.0).margin(0.05));
}

}  // namespace roofcast::sim::laws_replay_agents_prompts
