// SPDX-License-Identifier: Apache-2.0
#include "sim/step.hpp"

#include "sim/estimate.hpp"
#include "tests/catch.hpp"

namespace roofcast::sim {
namespace {

Scenario scenario(const std::string& deployment) {
  return read_scenario(base::parse_document(
      "test",
      "system: h100_cluster_128\nmodel: llama-3.1-70b\nprecision: fp8\ndeployment: " + deployment +
          "\nserving: {stack: vllm}\ntraffic: {input_tokens: 2048, output_tokens: 512, "
          "concurrency: 64}\n"));
}

// Runs of a hand-over of this name in a step, and what one takes.
struct HandOver {
  double runs = 0.0;
  double seconds = 0.0;
};

HandOver hand_over(const Scenario& s, std::string_view name) {
  for (const OperatorLine& line : step_operators(view(s), {16, 1, 1024})) {
    if (line.call.name == name) {
      return {line.call.count, line.cost.time.si()};
    }
  }
  return {};
}

}  // namespace

// Domains of eight. Four stages of four: 0|1 and 2|3 share a domain, 1|2 do not. Five stages of two: 3|4
// do not. Four of six: ranks 6 to 11 span the border that 0|1 crosses, and so on.
TEST_CASE("A stage hands over inside its domain, and over the NIC at the domain's border",
          "[unit]") {
  const auto hops = [](const std::string& deployment) {
    const Scenario s = scenario(deployment);
    return std::pair{hand_over(s, "pipeline.send").runs, hand_over(s, "pipeline.send_out").runs};
  };
  CHECK(hops("{tensor_parallel: 8}") == std::pair{0.0, 0.0});
  CHECK(hops("{tensor_parallel: 4, pipeline_parallel: 4}") == std::pair{2.0, 1.0});
  CHECK(hops("{tensor_parallel: 2, pipeline_parallel: 5}") == std::pair{3.0, 1.0});
  CHECK(hops("{tensor_parallel: 2, data_parallel: 3, pipeline_parallel: 4}") ==
        std::pair{0.0, 3.0});
  CHECK(hops("{tensor_parallel: 8, pipeline_parallel: 2}") == std::pair{0.0, 1.0});
  const Scenario s = scenario("{tensor_parallel: 4, pipeline_parallel: 4}");
  CHECK(hand_over(s, "pipeline.send_out").seconds > hand_over(s, "pipeline.send").seconds);
}

TEST_CASE("The slowest hand-over sets the pace of the stages", "[unit]") {
  Scenario s = scenario("{tensor_parallel: 4, pipeline_parallel: 4}");
  Workspace workspace;
  const workloads::Batch batch{16, 1, 1024};
  const StepCost before = step_cost(view(s), batch, workspace);
  const double slower = 1e-3;  // of the one hop that leaves its domain
  s.platform.machine.scale_out.latency += base::Seconds::from_si(slower);
  const StepCost after = step_cost(view(s), batch, workspace);
  CHECK((after.latency - before.latency).si() == Approx(slower));
  CHECK((after.period - before.period).si() == Approx(slower));
}

}  // namespace roofcast::sim
