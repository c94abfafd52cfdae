// SPDX-License-Identifier: Apache-2.0
//
// What limits an optimizer step: shares against the parts of the step, and against what the step gains.
#include "sim/training/step_causes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "sim/estimate.hpp"
#include "sim/result/training_step.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::sim::unit_sim_training_step_causes {
namespace {

Scenario scenario(const std::string& system, const std::string& training = "") {
  return read_scenario(base::parse_document(
      "test",
      fmt::format("system: {}\nmodel: llama-3.1-70b\nprecision: bf16\n"
                  "deployment: {{tensor_parallel: 8, pipeline_parallel: 4, data_parallel: 4, "
                  "sequence_parallel: true}}\n"
                  "training: {{global_batch: 128, sequence_length: 4096, recompute: full, "
                  "trainer: megatron{}}}\n",
                  system, training)));
}

ServingEstimate told(const Scenario& s) {
  Workspace workspace;
  ServingEstimate e = estimate(view(s), workspace);
  REQUIRE(e.fits());
  tell_causes(view(s), e);
  return e;
}

double share_of(const ServingEstimate& e, models::Cause cause) {
  const auto& shares = e.causes->step;
  const auto found =
      std::find_if(shares.begin(), shares.end(), [&](const auto& s) { return s.cause == cause; });
  return found != shares.end() ? found->share : 0.0;
}

}  // namespace

TEST_CASE("The causes of a step add up, and have its parts that are no passes", "[unit]") {
  const ServingEstimate e = told(scenario("h100_cluster_128", ", jitter: {deviation: 0.01}"));
  const TrainingStep& step = e.workflow->training;
  double all = 0.0;
  for (const models::Share& share : e.causes->step) {
    all += share.share;
  }
  CHECK(all == Approx(1.0));
  CHECK(share_of(e, models::Cause::straggler) ==
        Approx((step.straggler + step.jitter) / step.time));
  CHECK(step.jitter.si() > 0.0);
  // Gradients leave the domains of eight.
  CHECK(share_of(e, models::Cause::nic) >= step.exchange / step.time);
  CHECK(share_of(e, models::Cause::nic) + share_of(e, models::Cause::link) >=
        (step.sends + step.exchange) / step.time);
  CHECK(share_of(e, models::Cause::hbm) > step.optimizer / step.time);
  // The tensor cores have 47 %, which is not more than half.
  const Limited limited = sim::limited(e, "step_s");
  CHECK(limited.by == "link");
  CHECK(limited.share == share_of(e, models::Cause::link));
  CHECK(sim::limited(e, "ttft_mean_s").by.empty());
}

// A cause that gets 1 % shorter makes the step shorter by its share of 1 %: the power limit is lifted, or clocks would fall.
TEST_CASE("The share of the tensor cores in a step is what faster ones gain", "[unit]") {
  const auto system = [](double faster) {
    return fmt::format("{{base: h100_cluster_128, chip.power.tdp: 3 kW, chip.tensor.bf16: x{}}}",
                       faster);
  };
  const ServingEstimate now = told(scenario(system(1.0)));
  const ServingEstimate faster = told(scenario(system(1.01)));
  const double gain =
      (1.0 - faster.workflow->training.time / now.workflow->training.time) / (1.0 - 1.0 / 1.01);
  // Kernels that stay below the peak scale with it.
  const double share = share_of(now, models::Cause::tensor) + share_of(now, models::Cause::kernel) +
                       share_of(now, models::Cause::padding) +
                       share_of(now, models::Cause::wave_tail) +
                       share_of(now, models::Cause::few_blocks);
  CHECK(gain == Approx(share).margin(0.01));
}

TEST_CASE("Nothing is told of what limits a step of RL post-training", "[unit]") {
  ServingEstimate e;
  auto rl = std::make_shared<Workflow>();
  rl->post_training = PostTrainingStep{};
  e.workflow = rl;
  const Scenario s = scenario("h100_cluster_128");
  tell_causes(view(s), e);
  CHECK(e.causes == nullptr);
  CHECK(sim::limited(e, "step_s").by.empty());
}

}  // namespace roofcast::sim::unit_sim_training_step_causes
