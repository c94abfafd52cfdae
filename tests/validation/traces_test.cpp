// SPDX-License-Identifier: Apache-2.0
//
// The public Azure trace of conversations: what a scenario and its closed form make of it.
#include <fmt/format.h>

#include <string>

#include "sim/replay/simulation_summary.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"
#include "tests/laws/cases/simulations.hpp"
#include "tests/measurements.hpp"
#include "workloads/traffic/request_stream.hpp"

namespace roofcast::validation_traces {

TEST_CASE("The Azure trace is replayed whole, at any speed, with its own rate and lengths",
          "[validation]") {
  const auto file = measured_table("traces", "AzureLLMInferenceTrace_conv");
  const auto scenario = [&](const std::string& keys) {
    return sim::read_streamed_scenario(base::parse_document(
        "test", fmt::format("system: hgx_h200\nmodel: llama-3.1-70b\nprecision: fp8\n"
                            "deployment: {{tensor_parallel: 8}}\nserving: {{stack: vllm}}\n"
                            "traffic:\n  trace: {{file: {}{}}}\n  objectives: {{ttft: 1 s}}\n",
                            file.string(), keys)));
  };
  const sim::StreamedScenario one = scenario("");
  const workloads::Requests requests = workloads::draw_requests(one.stream);
  CHECK(requests.requests.size() == 19366);
  CHECK(requests.available == 19366);
  const workloads::Traffic& traffic = one.scenario.traffic;
  CHECK(traffic.input_tokens == 1155);
  CHECK(traffic.output_tokens == 211);
  CHECK(mean_rate(*traffic.arrivals).si() == Approx(5.53).epsilon(0.001));
  const workloads::Burstiness bursts = workloads::burstiness(*traffic.arrivals);
  WARN("index of dispersion in 1 s, 10 s, 100 s: " << bursts.dispersion(base::second) << ", "
                                                   << bursts.dispersion(10.0 * base::second) << ", "
                                                   << bursts.dispersion(100.0 * base::second));
  const sim::StreamedScenario two = scenario(", speed: 2, from: 10 min, to: 20 min");
  const sim::SimulationSummary s = sim::summarise(laws::run(two), 0, two.stream.classes);
  CHECK(s.requests == two.stream.trace->window->requests());
  CHECK(s.requests_per_second ==
        Approx(mean_rate(*two.scenario.traffic.arrivals).si()).epsilon(0.02));
}

}  // namespace roofcast::validation_traces
