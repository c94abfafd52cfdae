// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "models/operators/operator_cost.hpp"
#include "sim/estimate.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/result/causes.hpp"
#include "sim/scenario/sections.hpp"
#include "sim/training/training.hpp"
#include "tests/catch.hpp"

namespace roofcast::sim::unit_sim_straggler {
namespace {

Scenario experts(const std::string& deployment, const std::string& load) {
  return read_scenario(base::parse_document(
      "test", "system: hgx_h200\nmodel: {base: qwen3-30b-a3b, expert_load: {" + load +
                  ", source: a test}}\nprecision: fp8\ndeployment: " + deployment +
                  "\nserving: {stack: vllm}\n"
                  "traffic: {input_tokens: 2048, output_tokens: 512, concurrency: 512}\n"));
}

Scenario stages(std::int64_t pipeline, std::int64_t clients) {
  return read_scenario(base::parse_document(
      "test", fmt::format("system: h100_cluster_128\nmodel: llama-3.1-70b\nprecision: fp8\n"
                          "deployment: {{tensor_parallel: 4, pipeline_parallel: {}}}\n"
                          "serving: {{stack: vllm}}\ntraffic: {{input_tokens: 64, output_tokens: "
                          "2048, concurrency: {}}}\n",
                          pipeline, clients)));
}

double share_of(const std::vector<models::Share>& shares, models::Cause cause) {
  const auto found =
      std::find_if(shares.begin(), shares.end(), [&](const auto& s) { return s.cause == cause; });
  return found != shares.end() ? found->share : 0.0;
}

Causes causes(const Scenario& s) {
  Workspace workspace;
  ServingEstimate e = estimate(view(s), workspace);
  REQUIRE(e.fits());
  tell_causes(view(s), e);
  return *e.causes;
}

const workloads::Batch kDecodes{64, 1, 2048};

}  // namespace

// Two ranks of eight whose experts were counted: rank 0 has 16 experts of 128 with a load of 3, all others have 1.
// Its load is 48 of 160, the mean rank's 20: the others wait for 28/48 of the work that follows the pairs.
TEST_CASE("The mean rank waits for the busiest as long as this one takes longer", "[unit]") {
  std::string counts = "variation: null, counts: [";
  for (int i = 0; i < 128; ++i) {
    counts += i < 16 ? "3, " : i < 127 ? "1, " : "1]";
  }
  const Scenario s = experts("{data_parallel: 8, expert_parallel: 8}", counts);
  std::size_t waits = 0;
  for (const OperatorLine& line : iteration_operators(view(s), kDecodes)) {
    INFO(line.call.name);
    const bool of_experts = std::holds_alternative<workloads::GroupedGemm>(line.call.op) ||
                            line.call.name == "moe.activation" || line.call.name == "moe.routing" ||
                            line.call.name == "moe.sort";
    CHECK((line.straggler > 0.0) == of_experts);
    CHECK(line.straggler < 28.0 / 48.0);
    const std::vector<models::Share> shares = causes_of(line, s.platform.machine);
    CHECK(share_of(shares, models::Cause::straggler) == line.straggler);
    double all = 0.0;
    for (const models::Share& share : shares) {
      all += share.share;
    }
    CHECK(all == Approx(1.0));
    if (const auto* gemm = std::get_if<workloads::GroupedGemm>(&line.call.op)) {
      workloads::GroupedGemm mean = *gemm;
      mean.pairs *= 20.0 / 48.0;
      const base::Seconds less = line.cost.time -
                                 models::cost_of(line.call.op, s.platform.machine).time +
                                 models::cost_of(mean, s.platform.machine).time;
      // Chance adds little to what popularity does.
      CHECK(line.straggler == Approx(1.0 - less / line.cost.time).epsilon(0.01));
      ++waits;
    }
  }
  CHECK(waits == 2);
}

TEST_CASE("Nobody waits where every rank has all experts; for even ones on ranks as chance has it",
          "[unit]") {
  for (const Scenario& s : {experts("{tensor_parallel: 8}", "variation: 0.8"),
                            experts("{data_parallel: 1}", "variation: 0.8")}) {
    for (const OperatorLine& line : iteration_operators(view(s), kDecodes)) {
      CHECK(line.straggler == 0.0);
    }
  }
  const Causes even = causes(experts("{data_parallel: 8, expert_parallel: 8}", "variation: 0"));
  const Causes uneven = causes(experts("{data_parallel: 8, expert_parallel: 8}", "variation: 0.8"));
  CHECK(share_of(even.tpot, models::Cause::straggler) > 0.0);
  CHECK(share_of(even.tpot, models::Cause::straggler) <
        share_of(uneven.tpot, models::Cause::straggler));
  CHECK(share_of(uneven.tpot, models::Cause::straggler) > 0.005);
  CHECK(share_of(uneven.ttft, models::Cause::straggler) > 0.005);
}

// Prompts, and all that no CUDA graph covers, wait for their launches: that is the host's time, once.
TEST_CASE("Nobody waits for another rank on one GPU, whatever launches its kernels", "[unit]") {
  for (const char* stack : {"vllm", "trtllm"}) {
    for (const char* graphs : {"full", "none"}) {
      INFO(stack << " " << graphs);
      const Scenario s = read_scenario(base::parse_document(
          "test",
          fmt::format("system: hgx_h100\nmodel: llama-3.1-8b\nprecision: bf16\n"
                      "deployment: {{}}\nserving: {{stack: {}, cuda_graphs: {{decode: {}}}}}\n"
                      "traffic: {{input_tokens: 256, output_tokens: 256, concurrency: 1}}\n",
                      stack, graphs)));
      const Causes told = causes(s);
      if (std::string_view(graphs) == "none") {
        CHECK(share_of(told.ttft, models::Cause::host) > 0.2);
        CHECK(share_of(told.tpot, models::Cause::host) > 0.2);
      }
      for (const std::vector<models::Share>& shares : {told.ttft, told.tpot}) {
        CHECK(share_of(shares, models::Cause::straggler) == 0.0);
        double all = 0.0;
        for (const models::Share& share : shares) {
          all += share.share;
        }
        CHECK(all == Approx(1.0));
      }
    }
  }
}

// The last stage has the head, so the others wait for it. The share is what the pipeline takes beyond the sum of its stages.
TEST_CASE("Stages wait for the slowest one where several micro-batches are in flight", "[unit]") {
  const Scenario s = stages(4, 256);
  Workspace workspace;
  const ServingEstimate e = estimate(view(s), workspace);
  const IterationCost cost = iteration_cost(view(s), e.steady.decode_iteration, workspace);
  const base::Seconds host = cost.by_limit[static_cast<std::size_t>(Limit::host)];
  const base::Seconds lost = 4.0 * (cost.period - cost.period_host) - (cost.latency - host);
  CHECK(lost.si() > 0.0);
  const double share = share_of(causes(s).tpot, models::Cause::straggler);
  CHECK(share > 0.5 * (lost / (cost.latency + lost)));
  CHECK(share < 1.5 * (lost / (cost.latency + lost)));
  CHECK(share_of(causes(s).ttft, models::Cause::straggler) == 0.0);
  CHECK(share_of(causes(stages(1, 256)).tpot, models::Cause::straggler) == 0.0);
  CHECK(share_of(causes(stages(4, 1)).tpot, models::Cause::straggler) == 0.0);
}

TEST_CASE("Passes of a training wait for the rank with most pairs of its experts too", "[unit]") {
  const auto waits = [](const std::string& load) {
    const Scenario s = read_scenario(base::parse_document(
        "test", "system: h100_cluster_128\nmodel: {base: qwen3-30b-a3b, expert_load: {" + load +
                    ", source: a test}}\nprecision: bf16\ndeployment: {data_parallel: 32, "
                    "expert_parallel: 32}\n"
                    "training: {global_batch: 64, sequence_length: 4096, trainer: megatron}\n"));
    const PassesOfMicroBatch of = training_passes(view(s), micro_batches(view(s)));
    std::size_t lines = 0;
    for (const PassLines& pass : of.passes) {
      lines += static_cast<std::size_t>(
          std::count_if(pass.operators.begin(), pass.operators.end(),
                        [](const OperatorLine& line) { return line.straggler > 0.0; }));
    }
    return lines;
  };
  CHECK(waits("variation: 0") == 0);
  CHECK(waits("variation: 0.8") >= 4);
}

// 80 layers and the head on 3 stages: what is left of the passes is a third of what one GPU of each stage runs in all.
TEST_CASE("A training step without its straggler has stages that all take the mean", "[unit]") {
  const auto step_of = [](std::int64_t pipeline) {
    const Scenario s = read_scenario(base::parse_document(
        "test", fmt::format("system: h100_cluster_128\nmodel: llama-3.1-70b\nprecision: bf16\n"
                            "deployment: {{tensor_parallel: 8, pipeline_parallel: {}, "
                            "data_parallel: 2}}\n"
                            "training: {{global_batch: 64, sequence_length: 4096, trainer: "
                            "megatron}}\n",
                            pipeline)));
    const MicroBatches batches = micro_batches(view(s));
    base::Seconds all;
    for (const PassLines& pass : training_passes(view(s), batches).passes) {
      all += pass.waits;
      for (const OperatorLine& line : pass.operators) {
        all += line.time;
      }
    }
    const TrainingStep step = training_step(view(s), batches);
    const double times = s.training.trainer.slowdown * static_cast<double>(batches.count);
    const base::Seconds mean = (step.passes - step.straggler) / times - step.sends - step.within;
    CHECK(mean.si() == Approx((all / static_cast<double>(pipeline)).si()));
    return step;
  };
  CHECK(step_of(1).straggler.si() == Approx(0.0).margin(1e-12));
  const TrainingStep three = step_of(3);
  CHECK(three.straggler.si() > 0.0);
  CHECK(three.straggler < 0.1 * three.passes);
}

}  // namespace roofcast::sim::unit_sim_straggler
