// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>

#include "sim/estimate.hpp"
#include "sim/result/training_step.hpp"
#include "sim/scenario/sections.hpp"
#include "sim/training/training.hpp"
#include "tests/catch.hpp"

namespace roofcast::sim::unit_sim_training_training_passes {

TEST_CASE("The operators of both passes add up to the passes of the step", "[unit]") {
  for (const char* const model : {"llama-3.1-8b", "qwen3-30b-a3b"}) {
    for (const char* const recompute : {"none", "full", "[norms, mlp]"}) {
      INFO(model << ", recompute " << recompute);
      const Scenario scenario = read_scenario(base::parse_document(
          "test", std::string("system: {base: b200_cluster_128, chips: 64}\nmodel: ") + model +
                      "\nprecision: fp8\ndeployment: {tensor_parallel: 2, sequence_parallel: true, "
                      "data_parallel: 8" +
                      (std::string(model) == "qwen3-30b-a3b" ? ", expert_parallel: 8" : "") +
                      "}\ntraining: {sequence_length: 4096, global_batch: 64, trainer: megatron, "
                      "tensor_overlap: true, recompute: " +
                      recompute + "}\n"));
      const ScenarioView s = view(scenario);
      Workspace workspace;
      const ServingEstimate e = estimate(s, workspace);
      INFO(reason(e));
      REQUIRE(e.fits());
      const TrainingStep& step = e.workflow->training;
      const PassesOfMicroBatch both = training_passes(s, micro_batches(s));
      CHECK(both.clock == step.clock);
      const auto sum = [](const PassLines& pass) {
        base::Seconds time = pass.waits;
        for (const OperatorLine& line : pass.operators) {
          time += line.time;
        }
        return time;
      };
      CHECK(sum(both.passes[0]).si() == Approx(step.forward.si()));
      CHECK(sum(both.passes[1]).si() == Approx(step.backward.si()));
    }
  }
}

TEST_CASE("A ring that attention hides takes SMs from it, and its outputs are added up", "[unit]") {
  const Scenario scenario = read_scenario(base::parse_document(
      "test",
      "system: h100_cluster_128\nmodel: llama-3.1-8b\nprecision: bf16\ndeployment: "
      "{context_parallel: 4, data_parallel: 4}\ntraining: {sequence_length: 65536, "
      "global_batch: 4, trainer: megatron, recompute: full}\n"));
  const ScenarioView s = view(scenario);
  for (const PassLines& pass : training_passes(s, micro_batches(s)).passes) {
    base::Seconds merges;
    for (const OperatorLine& line : pass.operators) {
      if (line.call.name == "attention.ring") {
        const base::Seconds all = line.call.count * line.cost.time;
        CHECK(line.time > 0.15 * all);  // 20 of 132 SMs
        CHECK(line.time < 0.25 * all);
      }
      merges += line.call.name == "attention.merge_parts" ? line.time : base::Seconds{};
    }
    CHECK(merges > base::Seconds{});
  }
}

TEST_CASE("Ring attention sends keys, values and their gradients back, and again with recompute",
          "[unit]") {
  const auto sent = [](const char* recompute) {
    const Scenario scenario = read_scenario(base::parse_document(
        "test",
        "system: h100_cluster_128\nmodel: llama-3.1-8b\nprecision: bf16\ndeployment: "
        "{context_parallel: 8, data_parallel: 2}\ntraining: {sequence_length: 65536, "
        "global_batch: 4, trainer: megatron, recompute: " +
            std::string(recompute) + "}\n"));
    const ScenarioView s = view(scenario);
    std::array<double, 2> bytes{};
    const PassesOfMicroBatch both = training_passes(s, micro_batches(s));
    for (std::size_t pass = 0; pass < 2; ++pass) {
      for (const OperatorLine& line : both.passes[pass].operators) {
        if (line.call.name == "attention.ring") {
          bytes[pass] += line.call.count * std::get<workloads::Collective>(line.call.op).bytes;
        }
      }
    }
    return bytes;
  };
  const auto [forward, backward] = sent("norms");
  CHECK(forward > 0.0);
  CHECK(backward == 2.0 * forward);
  CHECK(sent("attention")[1] == 3.0 * forward);
  CHECK(sent("full")[1] == 3.0 * forward);
}

}  // namespace roofcast::sim::unit_sim_training_training_passes
