// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "sim/estimate.hpp"
#include "sim/result/training_step.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::sim::unit_sim_training_schedule {
namespace {

// 40 layers on eight stages.
ServingEstimate trained(const std::string& schedule, int stages = 8, int micro_batches = 16) {
  const Scenario scenario = read_scenario(base::parse_document(
      "test",
      "system: hgx_h100\nmodel: llama-2-13b\nprecision: bf16\ndeployment: "
      "{pipeline_parallel: " +
          std::to_string(stages) +
          "}\ntraining: {sequence_length: 2048, recompute: full, global_batch: " +
          std::to_string(micro_batches) + ", trainer: megatron, schedule: " + schedule + "}\n"));
  Workspace workspace;
  return estimate(view(scenario), workspace);
}

TrainingStep step_of(const std::string& schedule) {
  const ServingEstimate e = trained(schedule);
  INFO(reason(e));
  REQUIRE(e.fits());
  return e.workflow->training;
}

}  // namespace

TEST_CASE("1F1B waits for p − 1 of m micro-batches, DualPipe and the zero bubble for less",
          "[unit]") {
  const TrainingStep plain = step_of("1f1b");
  const TrainingStep zero = step_of("zero_bubble");
  const TrainingStep dual = step_of("dualpipe");
  CHECK(plain.bubble.si() == Approx(7.0 / 16.0 * plain.passes.si()));
  CHECK(zero.passes == plain.passes);
  CHECK(dual.passes <= plain.passes);  // a rank has the first stage and the last one, with the head
  CHECK(dual.bubble < zero.bubble);
  CHECK(zero.bubble < plain.bubble);
  // b = 2f + f again, and w = f where all time is in products: 1F1B 7 · 4f, zero bubble 7 · 2f, DualPipe 3 · 4f.
  CHECK(zero.bubble / plain.bubble == Approx(0.5).margin(0.08));
  CHECK(dual.bubble / plain.bubble == Approx(3.0 / 7.0).margin(0.08));
}

TEST_CASE("DualPipe keeps two stages' parameters and one micro-batch more than there are stages",
          "[unit]") {
  const TrainingStep plain = step_of("1f1b");
  const TrainingStep dual = step_of("dualpipe");
  CHECK(dual.footprint.parameters.si() == Approx(2.0 * plain.footprint.parameters.si()));
  CHECK(dual.footprint.gradients.si() == Approx(2.0 * plain.footprint.gradients.si()));
  CHECK(dual.footprint.optimizer == plain.footprint.optimizer);
  CHECK(step_of("zero_bubble").footprint.total() == plain.footprint.total());
}

TEST_CASE("DualPipe is refused with an odd number of stages or too few micro-batches", "[unit]") {
  for (const auto& [stages, micro_batches] :
       {std::pair{7, 14}, std::pair{8, 7}, std::pair{8, 14}, std::pair{8, 17}}) {
    const ServingEstimate e = trained("dualpipe", stages, micro_batches);
    INFO(stages);
    CHECK_FALSE(e.fits());
    CHECK(reason(e).find("training.schedule") != std::string::npos);
  }
}

TEST_CASE("Chunks take turns in whole groups of micro-batches, or in one that is smaller",
          "[unit]") {
  const ServingEstimate odd = trained("1f1b, virtual_stages: 2", 8, 12);
  CHECK_FALSE(odd.fits());
  CHECK(reason(odd).find("training.virtual_stages") != std::string::npos);
  for (const int micro_batches : {1, 4, 8, 16}) {
    const ServingEstimate e = trained("1f1b, virtual_stages: 2", 8, micro_batches);
    INFO(micro_batches << reason(e));
    REQUIRE(e.fits());
    // One micro-batch goes through all stages, however few there are.
    const TrainingStep& t = e.workflow->training;
    CHECK(t.passes + t.bubble >= 7.99 * (t.forward + t.backward));
  }
}

TEST_CASE("Mirrored ranks of DualPipe exchange gradients, and share one stage's states", "[unit]") {
  const TrainingStep plain = step_of("1f1b");
  const TrainingStep dual = step_of("dualpipe");
  CHECK(plain.exchange == base::Seconds{});  // one data-parallel rank
  CHECK(dual.exchange > base::Seconds{});
  // Twice the gradients are cleared; as many states are updated.
  CHECK(dual.optimizer > plain.optimizer);
  CHECK(dual.optimizer < 1.5 * plain.optimizer);
}

TEST_CASE("Only 1F1B has several chunks of layers a rank", "[unit]") {
  try {
    read_scenario(base::parse_document(
        "test",
        "system: hgx_h100\nmodel: llama-3.1-8b\nprecision: bf16\ndeployment: "
        "{pipeline_parallel: 8}\ntraining: {sequence_length: 2048, global_batch: 16, "
        "virtual_stages: 2, schedule: dualpipe, trainer: megatron}\n"));
    FAIL("no error");
  } catch (const base::InputError& error) {
    CHECK(std::string(error.what()).find("virtual_stages") != std::string::npos);
  }
}

TEST_CASE("ZB-V needs two chunks a rank and 2p − 1 micro-batches, and hides no exchanges",
          "[unit]") {
  const auto refused = [](const std::string& schedule) {
    try {
      trained(schedule);
    } catch (const base::InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(refused("zb_v").find("two chunks") != std::string::npos);
  CHECK(refused("zb_v, virtual_stages: 2, expert_overlap: true").find("no forward beside") !=
        std::string::npos);
  CHECK_FALSE(trained("zb_v, virtual_stages: 2", 8, 14).fits());
  const ServingEstimate v = trained("zb_v, virtual_stages: 2", 8, 16);
  REQUIRE(v.fits());
  CHECK(v.workflow->training.bubble < step_of("zero_bubble").bubble);
  // The first rank has embedding and head, as those of DualPipe, but its own chunks only.
  CHECK(v.workflow->training.footprint.parameters < step_of("dualpipe").footprint.parameters);
}

}  // namespace roofcast::sim::unit_sim_training_schedule
