// SPDX-License-Identifier: Apache-2.0
#include "sim/iteration/iteration.hpp"

#include <algorithm>

#include "sim/estimate.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::sim::unit_sim_iteration {
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
  for (const OperatorLine& line : iteration_operators(view(s), {16, 1, 1024})) {
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
  const IterationCost before = iteration_cost(view(s), batch, workspace);
  const double slower = 1e-3;  // of the one hop that leaves its domain
  s.platform.machine.scale_out.latency += base::Seconds::from_si(slower);
  const IterationCost after = iteration_cost(view(s), batch, workspace);
  CHECK((after.latency - before.latency).si() == Approx(slower));
  CHECK((after.period - before.period).si() == Approx(slower));
}

TEST_CASE("A host that works beside the GPU costs a step only what it takes longer", "[unit]") {
  Scenario s = scenario("{tensor_parallel: 8}");
  Workspace workspace;
  const workloads::Batch batch{16, 1, 1024};
  const auto latency = [&](double host, bool asynchronous) {
    s.serving.stack.iteration_overhead = base::Seconds::from_si(host);
    s.serving.stack.sequence_overhead = {};
    s.serving.stack.asynchronous = asynchronous;
    return iteration_cost(view(s), batch, workspace).latency.si();
  };
  const double running = latency(0.0, false);
  CHECK(latency(1e-3, false) == Approx(running + 1e-3));
  CHECK(latency(0.5 * running, true) == Approx(running));
  CHECK(latency(2.0 * running, true) == Approx(2.0 * running));
}

TEST_CASE("Stages that do not wait for their host hand over at its pace at most", "[unit]") {
  Scenario s = scenario("{tensor_parallel: 8, pipeline_parallel: 4}");
  s.serving.stack.asynchronous = true;
  s.serving.stack.sequence_overhead = {};
  Workspace workspace;
  const auto step = [&](base::Seconds host) {
    s.serving.stack.iteration_overhead = host;
    return iteration_cost(view(s), {16, 1, 1024}, workspace);
  };
  const IterationCost free = step({});
  REQUIRE(free.period < free.latency);
  const base::Seconds between = 0.5 * (free.period + free.latency);
  CHECK(step(between).latency.si() == Approx(free.latency.si()));
  CHECK(step(between).period.si() == Approx(between.si()));
}

TEST_CASE("A step is shorter by the share of its launches that is hidden", "[unit]") {
  Scenario s = scenario("{tensor_parallel: 8}");
  s.serving.stack.hidden_launch = 0.0;
  Workspace workspace;
  const workloads::Batch batch{16, 1, 1024};
  const double before = iteration_cost(view(s), batch, workspace).latency.si();
  const double one = s.platform.machine.calibration.launch.si();
  double launches = 0.0;
  for (const OperatorLine& line : iteration_operators(view(s), batch)) {
    const bool communicates = std::holds_alternative<workloads::Collective>(line.call.op);
    const double launch = line.cost.launch.si();  // of a collective with the library's start
    launches += line.call.count * (communicates ? std::min(launch, one) : launch);
  }
  s.serving.stack.hidden_launch = 0.25;
  CHECK(iteration_cost(view(s), batch, workspace).latency.si() == Approx(before - 0.25 * launches));
}

TEST_CASE(
    "The host launches all operators of a pass with prompts, or attention's where graphs cover the "
    "rest",
    "[unit]") {
  Workspace workspace;
  const auto operators = [&](Scenario s, std::int64_t tokens) {
    s.serving.stack.iteration_overhead = {};
    s.serving.stack.sequence_overhead = {};
    const IterationTime floor = launch_floor(view(s), {0, 1, 0, 1, tokens}, workspace);
    return floor.latency / s.serving.stack.eager_operator;
  };
  Scenario s = scenario("{tensor_parallel: 8}");
  s.serving.stack.graph_tokens = 512;
  const auto layers = static_cast<double>(s.model.layer_count());
  CHECK(operators(s, 512) == Approx(layers));
  CHECK(operators(s, 513) > 8.0 * layers);
  s.serving.stack.latent_operators = 45.0;  // it has none of these layers
  s.serving.stack.expert_operators = 55.0;
  CHECK(operators(s, 512) == Approx(layers));

  Scenario deepseek = read_scenario(base::parse_document(
      "test",
      "system: hgx_b200\nmodel: deepseek-v3\nprecision: nvfp4\ndeployment: {tensor_parallel: 8}\n"
      "serving: {stack: vllm}\ntraffic: {input_tokens: 64, output_tokens: 64, concurrency: 1}\n"));
  deepseek.serving.stack.graph_tokens = 0;
  const double before = operators(deepseek, 64);
  deepseek.serving.stack.latent_operators = 45.0;
  CHECK(operators(deepseek, 64) == Approx(before + 45.0 * 61.0));
  deepseek.serving.stack.expert_operators = 55.0;
  CHECK(operators(deepseek, 64) == Approx(before + 45.0 * 61.0 + 55.0 * 58.0));
}

TEST_CASE(
    "The GPU waits for its share of the launches of prompts, and for all of latent attention, "
    "however long they take",
    "[unit]") {
  Workspace workspace;
  const auto longer = [&](Scenario s, std::int64_t tokens) {
    const workloads::Batch batch{0, 1, 0, 1, tokens};
    s.serving.stack.hidden_launch = 0.0;
    const double launched =
        launch_floor(view(s), batch, workspace).latency.si() - host_wait(s.serving, batch, {}).si();
    const double with = iteration_cost(view(s), batch, workspace).latency.si();
    s.serving.stack.eager_operator = {};
    return (with - iteration_cost(view(s), batch, workspace).latency.si()) / launched;
  };
  Scenario s = scenario("{tensor_parallel: 8}");
  s.serving.stack.asynchronous = false;
  s.serving.stack.graph_tokens = 0;
  for (const std::int64_t tokens : {8192, 16384}) {
    s.serving.stack.waited_launches = 0.0;
    CHECK(longer(s, tokens) == Approx(0.0).margin(1e-12));
    s.serving.stack.waited_launches = 0.25;
    CHECK(longer(s, tokens) == Approx(0.25));
  }
  Scenario deepseek = read_scenario(base::parse_document(
      "test",
      "system: hgx_b200\nmodel: deepseek-v3\nprecision: nvfp4\ndeployment: {tensor_parallel: 8}\n"
      "serving: {stack: trtllm}\ntraffic: {input_tokens: 64, output_tokens: 64, concurrency: "
      "1}\n"));
  CHECK(longer(deepseek, 1024) == Approx(1.0));
  CHECK(longer(deepseek, 8192) == Approx(1.0));
}

}  // namespace roofcast::sim::unit_sim_iteration
