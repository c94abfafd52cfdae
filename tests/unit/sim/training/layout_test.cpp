// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "sim/estimate.hpp"
#include "tests/catch.hpp"
#include "tests/unit/sim/training/step_of.hpp"

namespace roofcast::sim::unit_sim_training_layout {
namespace {

TrainingStep step(const std::string& training) {
  return step_of(read_scenario(base::parse_document(
      "test",
      "system: h100_cluster_128\nmodel: qwen3-8b\nprecision: bf16\ndeployment: "
      "{pipeline_parallel: 4, data_parallel: 8}\ntraining: {global_batch: 256, "
      "sequence_length: 4096, trainer: megatron, gradients: bf16, recompute: norms" +
          training + "}\n")));
}

}  // namespace

TEST_CASE("A training without a layout has the time and the memory of the even one", "[unit]") {
  for (const auto& [chunks, layout] :
       {std::pair{"", "Et*9|t*9|t*9|t*9L"}, {", virtual_stages: 9", "Et|(t|)*34tL"}}) {
    const TrainingStep without = step(chunks);
    const TrainingStep even = step(std::string(chunks) + ", layout: '" + layout + "'");
    INFO(layout);
    CHECK(without.time == even.time);
    CHECK(without.footprint.total() == even.footprint.total());
  }
  // With the head, fewer layers on the last stage are faster and take more memory on the others.
  const TrainingStep uneven = step(", layout: 'Et*10|t*10|t*10|t*6L'");
  CHECK(uneven.time < step("").time);
  CHECK(uneven.footprint.total() > step("").footprint.total());
}

TEST_CASE("A chip that is written out trains as fast as the one of the catalog", "[unit]") {
  const auto time = [](bool written_out) {
    base::Node document = base::parse_document(
        "test",
        "system: hgx_b300\nmodel: llama-3.1-8b\nprecision: fp8\ndeployment: {data_parallel: 8}\n"
        "training: {global_batch: 64, sequence_length: 8192, trainer: megatron}\n");
    if (written_out) {
      base::Node system = base::load_entry(hardware::system_catalog(), "hgx_b300");
      system["chip"] = base::load_entry(hardware::chip_catalog(), "b300_sxm");
      system.reference.clear();
      system["chip"].reference.clear();
      document["system"] = system;
    }
    const Scenario s = read_scenario(document);
    Workspace workspace;
    return estimate(view(s), workspace).workflow->step();
  };
  CHECK(time(true) == time(false));
}

}  // namespace roofcast::sim::unit_sim_training_layout
