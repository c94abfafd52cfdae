// SPDX-License-Identifier: Apache-2.0
//
// The time that the power limit takes, and host time that has a share.
#include <fmt/format.h>

#include <algorithm>

#include "sim/estimate.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/result/causes.hpp"
#include "sim/result/metrics.hpp"
#include "sim/result/training_step.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::sim::unit_sim_serving_power_cause {
namespace {

Scenario scenario(const std::string& text) {
  return read_scenario(base::parse_document("test", text));
}

Scenario prompts(const std::string& cap) {
  return scenario(
      fmt::format("system: {{base: hgx_h100, chip.power.cap: {}}}\nmodel: llama-3.1-8b\n"
                  "precision: bf16\ndeployment: {{}}\nserving: {{stack: vllm}}\n"
                  "traffic: {{input_tokens: 8192, output_tokens: 1, concurrency: 1}}\n",
                  cap));
}

Scenario training(const std::string& cap) {
  return scenario(
      fmt::format("system: {{base: h100_cluster_128, chip.power.cap: {}}}\nmodel: llama-3.1-70b\n"
                  "precision: bf16\ndeployment: {{tensor_parallel: 8, pipeline_parallel: 4, "
                  "data_parallel: 4, sequence_parallel: true}}\n"
                  "training: {{global_batch: 128, sequence_length: 4096, recompute: full, "
                  "trainer: megatron}}\n",
                  cap));
}

Scenario eager(const std::string& stack) {
  return scenario(
      fmt::format("system: hgx_h100\nmodel: llama-3.1-8b\nprecision: bf16\ndeployment: {{}}\n"
                  "serving: {{stack: {}, cuda_graphs: {{decode: none}}}}\n"
                  "traffic: {{input_tokens: 256, output_tokens: 256, concurrency: 1}}\n",
                  stack));
}

double sum_of(const std::vector<models::Share>& shares) {
  double sum = 0.0;
  for (const models::Share& share : shares) {
    sum += share.share;
  }
  return sum;
}

double share_of(const std::vector<models::Share>& shares, models::Cause cause) {
  const auto found =
      std::find_if(shares.begin(), shares.end(), [&](const auto& s) { return s.cause == cause; });
  return found != shares.end() ? found->share : 0.0;
}

ServingEstimate told(const Scenario& s) {
  Workspace workspace;
  ServingEstimate e = estimate(view(s), workspace);
  REQUIRE(e.fits());
  tell_causes(view(s), e);
  return e;
}

// No chip draws so much.
Scenario unlimited(Scenario s) {
  s.platform.machine.power.limit = base::Watts::from_si(1e6);
  return s;
}

}  // namespace

TEST_CASE("The share of power is what the time gains without the limit", "[unit]") {
  Workspace workspace;
  for (const char* cap : {"500 W", "350 W", "250 W"}) {
    INFO(cap);
    const Scenario s = prompts(cap);
    const Scenario free = unlimited(s);
    const ServingEstimate e = told(s);
    const workloads::Batch& batch = e.steady.prefill_iteration;
    const base::Seconds now = iteration_cost(view(s), batch, workspace).latency;
    const base::Seconds then = iteration_cost(view(free), batch, workspace).latency;
    const double iterations = 1.0 - e.steady.ttft_host;  // of TTFT
    CHECK(share_of(e.causes->ttft, models::Cause::power) ==
          Approx(iterations * (1.0 - then / now)));
    CHECK(sum_of(e.causes->ttft) == Approx(1.0));
    CHECK(share_of(told(free).causes->ttft, models::Cause::power) == 0.0);
  }
}

TEST_CASE("The share of power in a training step is what its passes gain without the limit",
          "[unit]") {
  const Scenario s = training("350 W");
  const ServingEstimate e = told(s);
  const ServingEstimate free = told(unlimited(s));
  const double share = share_of(e.causes->step, models::Cause::power);
  CHECK(share ==
        Approx(1.0 - free.workflow->training.time / e.workflow->training.time).margin(0.02));
  CHECK(sum_of(e.causes->step) == Approx(1.0));
  CHECK(share_of(free.causes->step, models::Cause::power) == 0.0);
  CHECK(limited(e, "step_s").by == "power");
}

TEST_CASE("A time that the host limits has the share of the host", "[unit]") {
  for (const char* stack : {"vllm", "sglang"}) {
    INFO(stack);
    const ServingEstimate e = told(eager(stack));
    for (const char* metric : {"ttft", "tpot", "throughput"}) {
      INFO(metric);
      const Limited l = limited(e, metric);
      CHECK(l.by == "host");
      CHECK(l.share > 0.3);
      CHECK(l.share == share_of(l.shares, models::Cause::host));
      CHECK(sum_of(l.shares) == Approx(1.0));
      const Metric* share = find_metric(fmt::format("limited_share_{}", metric));
      CHECK(share->value(e) == l.share);
    }
  }
}

// Iterations of two attention-DP ranks, whose messages one process sends.
TEST_CASE("The time that tokens wait for the front end is the host's", "[unit]") {
  const auto served_by = [](int front_ends) {
    return told(scenario(
        fmt::format("system: gb200_nvl72\nmodel: deepseek-v3\nprecision: deepseek_nvfp4\n"
                    "deployment: {{tensor_parallel: 4, expert_parallel: 8, data_parallel: 2}}\n"
                    "serving: {{stack: trtllm, front_ends: {}}}\n"
                    "traffic: {{input_tokens: 1024, output_tokens: 1024, concurrency: 2048}}\n",
                    front_ends)));
  };
  const ServingEstimate one = served_by(1);
  const ServingEstimate many = served_by(64);
  const Limited tpot = limited(one, "tpot");
  CHECK(tpot.by == "host");
  CHECK(tpot.share > 0.4);
  CHECK(sum_of(tpot.shares) == Approx(1.0));
  CHECK(limited(one, "throughput").by == "host");
  CHECK(share_of(limited(many, "tpot").shares, models::Cause::host) < 0.5 * tpot.share);
  CHECK(many.steady.requests_per_second > 1.5 * one.steady.requests_per_second);
}

}  // namespace roofcast::sim::unit_sim_serving_power_cause
