// SPDX-License-Identifier: Apache-2.0
//
// A trace of two chunks of DeepSeek-V3, one in its forward and one in its backward pass at the same time, four layers each, on
// 64 H800 with balanced experts (deepseek-ai/profile-data@4496024, train.json). Forward attention starts at 2.308, 33.769,
// 65.103 and 97.548 ms of it. Nothing but kRequantisePace (workloads/graph/unfused_kernels.hpp) was fitted to it.
#include <string>

#include "sim/scenario/sections.hpp"
#include "sim/training/training.hpp"
#include "tests/catch.hpp"

namespace roofcast::sim::validation_dualpipe_trace {
namespace {

constexpr double kMeasured = (97.548e-3 - 2.308e-3) / 3.0;  // s, both passes of a layer

Scenario deepseek() {
  return read_scenario(base::parse_document(
      "test",
      "system: {base: h800_cluster_128, chips: 2048}\nmodel: {base: deepseek-v3, expert_load: "
      "{variation: "
      "0, source: balanced}}\nprecision: fp8_block\ndeployment: {pipeline_parallel: 16, "
      "expert_parallel: 64, data_parallel: 128}\ntraining: {global_batch: 15360, sequence_length: "
      "4096, "
      "schedule: dualpipe, expert_overlap: true, recompute: [norms, mla_up, expert_activation], "
      "moments: bf16, dispatch: quantised, expert_activations: fp8, fused_rope: false, trainer: "
      "megatron}\n"));
}

}  // namespace

TEST_CASE("Two passes of a layer side by side take within 5 % of DeepSeek-V3's trace on H800",
          "[validation]") {
  const Scenario scenario = deepseek();
  const ScenarioView s = view(scenario);
  double layer = 0.0;
  for (const PassLines& pass : training_passes(s, micro_batches(s)).passes) {
    for (const OperatorLine& line : pass.operators) {
      if (!line.call.in_layers) {
        continue;
      }
      // The first three of 61 layers have a dense feed-forward.
      const std::string name(line.call.name);
      const double layers = name.starts_with("attention.") ? 61.0
                            : line.call.count < 58.0       ? 0.0
                                                           : 58.0;
      layer += layers > 0.0 ? line.time.si() / layers : 0.0;
    }
  }
  layer *= s.training->trainer.slowdown;
  CHECK(layer == Approx(kMeasured).epsilon(0.05));
}

}  // namespace roofcast::sim::validation_dualpipe_trace
