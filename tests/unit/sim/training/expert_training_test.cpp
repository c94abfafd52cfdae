// SPDX-License-Identifier: Apache-2.0
//
// How a mixture of experts is trained: exchanges, experts' kernels, further tokens.
#include <algorithm>
#include <string>

#include "sim/estimate.hpp"
#include "sim/result/training_step.hpp"
#include "sim/scenario/sections.hpp"
#include "sim/training/training.hpp"
#include "tests/catch.hpp"
#include "tests/unit/sim/training/step_of.hpp"

namespace roofcast::sim::unit_sim_training_expert_training {
namespace {

Scenario training(const std::string& model, const std::string& settings, int expert_parallel = 8) {
  return read_scenario(base::parse_document(
      "test", "system: {base: b200_cluster_128, chips: 64}\nmodel: " + model +
                  "\nprecision: fp8\ndeployment: {data_parallel: 64, expert_parallel: " +
                  std::to_string(expert_parallel) +
                  "}\ntraining: {sequence_length: 4096, global_batch: 512, trainer: megatron" +
                  settings + "}\n"));
}

double sent(const workloads::Graph& graph, std::string_view name) {
  const auto call = std::find_if(graph.begin(), graph.end(),
                                 [&](const workloads::Call& c) { return c.name == name; });
  return call == graph.end() ? 0.0 : std::get<workloads::Collective>(call->op).bytes;
}

}  // namespace

TEST_CASE("Exchanges with experts that travel beside another micro-batch take no more time",
          "[unit]") {
  for (const int ranks : {8, 64}) {
    // In a graph: else the host is the bound, and has more to do.
    const std::string graph = ", cuda_graphs: full";
    const double alone = step_of(training("qwen3-30b-a3b", graph, ranks)).time.si();
    const double beside =
        step_of(training("qwen3-30b-a3b", graph + ", expert_overlap: true", ranks)).time.si();
    INFO(ranks);
    CHECK(beside < alone);
    CHECK(beside > 0.2 * alone);
  }
  // Without experts there is nothing to hide.
  const double dense = step_of(training("llama-3.1-8b", "", 1)).time.si();
  CHECK(step_of(training("llama-3.1-8b", ", expert_overlap: true", 1)).time.si() == dense);
}

TEST_CASE("What is exposed of exchanges with experts adds up to the step", "[unit]") {
  const Scenario scenario = training("deepseek-v3", ", expert_overlap: true, mtp: 1", 64);
  const ScenarioView s = view(scenario);
  const TrainingStep step = training_step(s, micro_batches(s));
  const PassesOfMicroBatch both = training_passes(s, micro_batches(s));
  const base::Seconds passes[] = {step.forward, step.backward};
  for (std::size_t i = 0; i < 2; ++i) {
    double time = 0.0;
    for (const OperatorLine& line : both.passes[i].operators) {
      time += line.time.si();
    }
    CHECK(time == Approx(passes[i].si()));
  }
}

TEST_CASE("A token that is sent for each of its experts takes longer than one sent to each rank",
          "[unit]") {
  const double fused = step_of(training("qwen3-30b-a3b", "", 64)).time.si();
  const double copied =
      step_of(training("qwen3-30b-a3b", ", dispatcher: all_to_all", 64)).time.si();
  CHECK(copied > 1.05 * fused);
}

TEST_CASE("Training sends tokens to experts in 16 bits, a server in the format of the experts",
          "[unit]") {
  const Scenario scenario = training("qwen3-30b-a3b", "", 64);
  const ScenarioView s = view(scenario);
  const workloads::Graph graph = forward_graph(s, *s.mapping, micro_batches(s));
  CHECK(sent(graph, "moe.dispatch") == sent(graph, "moe.combine"));
  workloads::Graph served;
  workloads::Batch batch;
  batch.prefill_sequences = 1;
  batch.prefill_tokens = 4096;
  workloads::build_graph(*s.model, *s.precision, *s.mapping, {}, batch, served);
  CHECK(2.0 * sent(served, "moe.dispatch") == sent(served, "moe.combine"));
}

TEST_CASE("Tokens after the next cost a layer, a join and a head each", "[unit]") {
  const TrainingStep none = step_of(training("glm-4.5-air", ", recompute: full", 64));
  const TrainingStep one = step_of(training("glm-4.5-air", ", recompute: full, mtp: 1", 64));
  const TrainingStep two = step_of(training("glm-4.5-air", ", recompute: full, mtp: 2", 64));
  CHECK(one.time > none.time);
  CHECK((two.time - one.time).si() == Approx((one.time - none.time).si()).epsilon(0.05));
  CHECK(one.footprint.parameters > none.footprint.parameters);
  // One module serves both tokens.
  CHECK(two.footprint.parameters == one.footprint.parameters);
}

TEST_CASE("A model without modules for further tokens is refused with the key", "[unit]") {
  const Scenario scenario = training("llama-3.1-8b", ", mtp: 1", 1);
  Workspace workspace;
  const ServingEstimate e = estimate(view(scenario), workspace);
  CHECK_FALSE(e.fits());
  CHECK(reason(e).find("training.mtp") != std::string::npos);
}

TEST_CASE("Attention in FP8 trains no slower than in 16 bits", "[unit]") {
  const double plain = step_of(training("llama-3.1-8b", "", 1)).time.si();
  CHECK(step_of(training("llama-3.1-8b", ", attention: fp8", 1)).time.si() < plain);
}

TEST_CASE("One kernel for all experts takes no longer than one for each", "[unit]") {
  const double each = step_of(training("qwen3-30b-a3b", "", 8)).time.si();
  CHECK(step_of(training("qwen3-30b-a3b", ", grouped_experts: true", 8)).time.si() < each);
}

TEST_CASE("A scenario that trains takes the kernels of its trainer's stack, or of its own",
          "[unit]") {
  const auto calibration = [](const std::string& more) {
    const Scenario s = read_scenario(base::parse_document(
        "test",
        "system: hgx_h100\nmodel: llama-3.1-8b\nprecision: bf16\ndeployment: "
        "{data_parallel: 8}\ntraining: {sequence_length: 4096, global_batch: 8, trainer: "
        "megatron}\n" +
            more));
    return s.platform.machine.calibration.id;
  };
  CHECK(calibration("") == "h100_sxm.trtllm");
  CHECK(calibration("serving: {stack: vllm}\n") == "h100_sxm.vllm");
}

}  // namespace roofcast::sim::unit_sim_training_expert_training
