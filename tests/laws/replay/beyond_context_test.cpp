// SPDX-License-Identifier: Apache-2.0
//
// Requests that are longer than the context: estimate and simulation leave them out (workloads/traffic/within_context.hpp).
#include <fmt/format.h>

#include <cmath>
#include <string>

#include "sim/confirm/replayed_estimate.hpp"
#include "sim/estimate.hpp"
#include "sim/replay/simulation_summary.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"
#include "tests/laws/cases/simulations.hpp"

namespace roofcast::sim::laws_replay_beyond_context {
namespace {

// The context of the model is 40,960 tokens.
StreamedScenario scenario(const std::string& traffic) {
  return read_streamed_scenario(base::parse_document(
      "test", fmt::format("system: hgx_h200\nmodel: qwen3-32b\nprecision: fp8\n"
                          "deployment: {{tensor_parallel: 2}}\nserving: {{stack: vllm}}\n"
                          "traffic: {{{}}}\n",
                          traffic)));
}

const std::string kTraffics[] = {
    "input_tokens: {lognormal: {mean: 7000, cv: 1.3, max: 80000}}, output_tokens: 300, "
    "arrivals: {process: poisson, rate: 1.2 /s}, requests: 8000, objectives: {ttft: 2 s}",
    "input_tokens: {lognormal: {mean: 12000, cv: 1.5, max: 120000}}, output_tokens: {uniform: "
    "[100, 500]}, concurrency: 16, requests: 3000, objectives: {ttft: 3 s}",
    "input_tokens: 38000, output_tokens: {lognormal: {mean: 1500, cv: 1}}, concurrency: 4, "
    "requests: 800, objectives: {ttft: 20 s}"};

}  // namespace

TEST_CASE("Estimate and simulation reject the same share of the requests, and agree on the others",
          "[laws]") {
  for (const std::string& traffic : kTraffics) {
    INFO(traffic);
    const StreamedScenario s = scenario(traffic);
    ReplaySpace space;
    const ServingEstimate e = estimate(view(s.scenario), space.workspace);
    REQUIRE(e.fits());
    const SimulationSummary simulated = summarise(laws::run(s), 200, s.stream.classes);
    const auto all = static_cast<double>(simulated.requests + simulated.rejected);
    CHECK(e.beyond_context > 0.008);
    CHECK(std::abs(static_cast<double>(simulated.rejected) / all - e.beyond_context) <
          3.0 * std::sqrt(e.beyond_context / all));
    CHECK(e.steady.ttft_mean / simulated.ttft.mean == Approx(1.0).margin(0.12));
    CHECK(e.steady.tpot / simulated.tpot.mean == Approx(1.0).margin(0.1));
    CHECK(e.output_rate == Approx(simulated.output_rate).epsilon(0.06));
    CHECK(e.steady.attainment == Approx(simulated.attainment).margin(0.03));
    CHECK(replay(view(s.scenario), s.stream, e, {}, space).done());
  }
}

TEST_CASE("Traffic that the context holds is estimated as it is", "[laws]") {
  const StreamedScenario s = scenario(
      "input_tokens: {lognormal: {mean: 3000, cv: 1, max: 30000}}, output_tokens: 300, "
      "concurrency: 8");
  const ServedScenario served(view(s.scenario));
  CHECK(served.beyond_context == 0.0);
  CHECK(served.view.traffic == &s.scenario.traffic);
}

}  // namespace roofcast::sim::laws_replay_beyond_context
