// SPDX-License-Identifier: Apache-2.0
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

}  // namespace roofcast::sim::unit_sim_training_training_passes
