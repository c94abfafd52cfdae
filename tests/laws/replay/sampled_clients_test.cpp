// SPDX-License-Identifier: Apache-2.0
//
// Closed forms of clients whose requests are followed, beside long simulations.
#include <string>

#include "sim/estimate.hpp"
#include "sim/replay/simulation_summary.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"
#include "tests/laws/cases/simulations.hpp"

namespace roofcast::sim::laws_replay_sampled_clients {
namespace {

// Without the first `skipped` requests.
void check_agreement(const std::string& serving, const std::string& traffic, std::size_t skipped) {
  const StreamedScenario s = read_streamed_scenario(
      base::parse_document("test",
                           "system: l40s_pcie_x8\nmodel: mistral-7b\nprecision: bf16\ndeployment: "
                           "{tensor_parallel: 1}\nserving: {stack: vllm" +
                               serving + "}\ntraffic: {" + traffic + "}\n"));
  Workspace workspace;
  const ServingEstimate e = estimate(view(s.scenario), workspace);
  INFO(serving << " " << traffic);
  REQUIRE(e.fits());
  const SimulationSummary summary = summarise(laws::run(s), skipped, {});
  CHECK(e.steady.ttft_mean / summary.ttft.mean == Approx(1.0).margin(0.1));
  CHECK(e.steady.ttft_tail.p95 / summary.ttft.p95 == Approx(1.0).margin(0.15));
  CHECK(e.steady.tpot / summary.tpot.mean == Approx(1.0).margin(0.11));
}

}  // namespace

// All layers keep the last 4096 tokens.
TEST_CASE("Clients wait for a KV cache that holds windows of their sequences", "[laws]") {
  const std::string answers = "output_tokens: {uniform: [100, 300]}, ";
  for (const char* prompts : {"uniform: [6000, 10000]", "uniform: [2000, 4000]",
                              "lognormal: {mean: 2000, cv: 2, max: 20000}"}) {
    check_agreement(", memory_fraction: 0.5",
                    answers + "input_tokens: {" + prompts + "}, concurrency: 64, requests: 1500",
                    200);
  }
}

}  // namespace roofcast::sim::laws_replay_sampled_clients
