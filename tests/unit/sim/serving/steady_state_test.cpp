// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/lockstep.hpp"

#include <cmath>

#include "tests/catch.hpp"
#include "tests/unit/sim/serving/eight_h200.hpp"

namespace roofcast::unit_sim_serving_steady_state {

using sim::ServingEstimate;

namespace {

double step_seconds(const sim::Scenario& s, const workloads::Batch& batch) {
  sim::Workspace workspace;
  return sim::iteration_cost(sim::view(s), batch, workspace).latency.si();
}

}  // namespace

// Nobody else is there: no wait, no interference, whatever share of the passes its own prompt takes.
TEST_CASE("A lone request takes its prompt and its decodes, nothing more", "[unit]") {
  const auto s = eight_h200({8000, 8, 1, 0});
  const auto e = estimated(s);
  REQUIRE(e.fits());
  const double prompt = step_seconds(s, {0, 1, 8004, 1, 8000, 0});
  const double decode = step_seconds(s, {1, 1, 8004, 0, 0, 0});
  const double request = s.serving.stack.request_overhead.si();
  CHECK(e.steady.tpot.si() == Approx(decode).epsilon(1e-9));
  const double message = s.serving.stack.message_overhead.si();
  CHECK(e.steady.ttft_mean.si() == Approx(request + prompt + message).epsilon(1e-9));
}

TEST_CASE("One answer token needs no decode, so there is no TPOT", "[unit]") {
  const auto e = estimated(eight_h200({1000, 1, 4, 0}));
  REQUIRE(e.fits());
  CHECK(e.steady.tpot.si() == 0.0);
  CHECK(e.steady.decode_batch == 0.0);
  CHECK(e.steady.end_to_end == e.steady.ttft_mean);
  CHECK(e.steady.requests_per_second > 0.0);
}

// TTFT, then output − 1 intervals; tokens a second of the replica; requests in the house.
TEST_CASE("End to end is the first token and the intervals to the last", "[unit]") {
  for (const std::int64_t clients : {1, 10, 100, 1000}) {
    const auto s = eight_h200({2000, 300, clients, 0});
    const auto e = estimated(s);
    REQUIRE(e.fits());
    INFO(clients << " clients");
    CHECK(e.steady.end_to_end.si() == Approx(e.steady.ttft_mean.si() + 299.0 * e.steady.tpot.si()));
    CHECK(e.output_rate == Approx(300.0 * e.steady.requests_per_second));
    CHECK(e.steady.requests_per_second * e.steady.end_to_end.si() ==
          Approx(static_cast<double>(clients)));
    CHECK(e.steady.ttft_p50 <= e.steady.ttft_tail.p95);
  }
}

TEST_CASE("No more requests run than clients, limits and the KV cache allow", "[unit]") {
  auto s = eight_h200({2000, 300, 40, 0});
  CHECK(estimated(s).steady.running == 40.0);
  s.serving.limits.max_sequences = 12;
  const auto limited = estimated(s);
  CHECK(limited.steady.running == 12.0);
  CHECK(limited.steady.throughput_limit == sim::Limit::slots);
  CHECK(limited.steady.ttft_mean > estimated(eight_h200({2000, 300, 12, 0})).steady.ttft_mean);
  s = eight_h200({30000, 3000, 5000, 0});
  const auto full = estimated(s);
  CHECK(full.max_running < 512.0);
  CHECK(full.steady.running == std::floor(full.max_running));
  CHECK(full.memory <= full.footprint.limit);
}

TEST_CASE("Attention-DP groups share the clients evenly", "[unit]") {
  auto s = eight_h200({1000, 300, 64, 0});
  s.deployment.mapping = {1, 1, 1, 8, false};
  const auto eight = estimated(s);
  REQUIRE(eight.fits());
  CHECK(eight.gpus == 8);
  CHECK(eight.steady.running == Approx(8.0).epsilon(0.01));  // without those in the front end
  s.deployment.mapping = {1, 1, 1, 1, false};
  s.traffic.concurrency = 8;
  const auto one = estimated(s);
  CHECK(eight.steady.requests_per_second ==
        Approx(8.0 * one.steady.requests_per_second).epsilon(0.03));
  CHECK(eight.steady.tpot.si() == Approx(one.steady.tpot.si()).epsilon(0.03));
}

TEST_CASE("A reused prefix shortens the prompt, not the context", "[unit]") {
  const auto fresh = estimated(eight_h200({8000, 500, 32, 0}));
  const auto reused = estimated(eight_h200({8000, 500, 32, 7000}));
  CHECK(reused.steady.ttft_mean < fresh.steady.ttft_mean);
  CHECK(reused.steady.prefill_iteration.prefill_tokens == 1000);
  CHECK(reused.steady.prefill_iteration.cached_tokens == 7000);
  CHECK(reused.steady.decode_iteration.context == fresh.steady.decode_iteration.context);
  CHECK(reused.max_running == fresh.max_running);
}

// 20 000 tokens do not fit beside the decodes in an iteration of 8192 tokens.
TEST_CASE("A prompt longer than an iteration is cut where the budget ends", "[unit]") {
  auto s = eight_h200({20000, 1000, 4, 0});
  s.serving.limits.max_tokens_per_iteration = 8192;
  const auto e = estimated(s);
  CHECK(e.steady.prefill_iteration.prefill_sequences == 1);
  const std::int64_t chunk = 8192 - e.steady.prefill_iteration.decode_sequences;
  CHECK(e.steady.prefill_iteration.prefill_tokens == chunk);
  CHECK(e.steady.prefill_iteration.cached_tokens == (20000 - chunk) / 2);
}

TEST_CASE("Pipeline stages make a step longer and let them follow each other faster", "[unit]") {
  auto s = eight_h200({1000, 500, 64, 0});
  s.deployment.mapping = {4, 2, 1, 1, false};
  sim::Workspace workspace;
  const workloads::Batch batch{32, 1, 1250, 0, 0, 0};
  const auto two = sim::iteration_cost(sim::view(s), batch, workspace);
  CHECK(two.period < two.latency);
  CHECK(two.period > 0.5 * two.latency);
  s.deployment.mapping = {4, 1, 1, 1, false};
  const auto one = sim::iteration_cost(sim::view(s), batch, workspace);
  CHECK(one.period == one.latency);
  CHECK(two.latency > one.latency);
}

TEST_CASE("The parts of a step add up to its time", "[unit]") {
  for (const auto& mapping : laws::mappings(laws::model("llama-3.1-70b"))) {
    auto s = eight_h200({1000, 500, 64, 0});
    s.deployment.mapping = mapping;
    sim::Workspace workspace;
    const workloads::Batch batch{32, 1, 1250, 1, 1000, 0};
    const auto step = sim::iteration_cost(sim::view(s), batch, workspace);
    double sum = 0.0;
    for (const base::Seconds part : step.by_limit) {
      sum += part.si();
    }
    CHECK(sum == Approx(step.latency.si()).epsilon(1e-12));
  }
}

TEST_CASE("What cannot run is a result with its reason", "[unit]") {
  auto s = eight_h200({1000, 500, 64, 0});
  const auto is = [&](auto why) {
    return std::holds_alternative<decltype(why)>(estimated(s).infeasible);
  };
  CHECK(is(std::monostate{}));
  s.deployment.mapping.tensor_parallel = 3;
  CHECK(is(sim::infeasible::Mapping{}));
  s.deployment.mapping = {8, 2, 1, 1, false};
  CHECK(is(sim::infeasible::SystemSize{}));
  s.deployment.mapping = {1, 1, 1, 1, false};
  s.precision = laws::precision("bf16");
  CHECK(is(sim::infeasible::Weights{}));
  // Two halves of 141 GB leave 13 GB of 0.6 · 150 GB; 131 000 tokens of 160 KiB need 21 GB.
  s.deployment.mapping = {2, 1, 1, 1, false};
  s.serving.limits.memory_fraction = 0.6;
  s.traffic = {130000, 1000, 1, 0};
  CHECK(is(sim::infeasible::KvCache{}));
  s.traffic.output_tokens = 2000;
  CHECK(is(sim::infeasible::Context{}));
  s = eight_h200({1000, 500, 64, 0});
  s.precision = laws::precision("nvfp4");
  CHECK(is(sim::infeasible::NumberFormat{}));
  CHECK_FALSE(sim::reason(estimated(s)).empty());
}

// vLLM and SGLang: "output_size of gate's and up's weight = 192 is not divisible by weight quantization block_n = 128"
// (MiniMax-M2 and Qwen3-235B by TP8, whose experts are 1,536 wide). Whole experts are cut nowhere.
TEST_CASE("A stack that keeps blocks of scales whole refuses a mapping that cuts one", "[unit]") {
  for (const auto id : {"minimax-m2", "qwen3-235b-a22b"}) {
    INFO(id);
    auto s = eight_h200({1000, 500, 64, 0});
    s.model = laws::model(id);
    const auto cut = [&](std::int64_t tensor_parallel, std::int64_t expert_parallel) {
      s.deployment.mapping.tensor_parallel = tensor_parallel;
      s.deployment.mapping.expert_parallel = expert_parallel;
      return std::holds_alternative<sim::infeasible::CutBlock>(estimated(s).infeasible);
    };
    s.precision = laws::precision("fp8_block");
    s.serving.stack.whole_blocks = true;
    CHECK(cut(8, 1));
    CHECK(sim::reason(estimated(s)).find("192 wide") != std::string::npos);
    CHECK_FALSE(cut(8, 8));
    CHECK_FALSE(cut(4, 1));
    s.precision = laws::precision("fp8");
    CHECK_FALSE(cut(8, 1));
    s.precision = laws::precision("fp8_block");
    s.serving.stack.whole_blocks = false;
    CHECK_FALSE(cut(8, 1));
  }
}

// gpt-oss is attention and routed experts alone; an H200 has no fp4.
TEST_CASE("A format of a part that the model lacks does not stop it", "[unit]") {
  auto s = eight_h200({1000, 500, 16, 0});
  s.model = laws::model("gpt-oss-20b");
  s.deployment.mapping = {};
  s.precision = laws::precision("bf16");
  const workloads::LinearFormat fp4{base::NumberFormat::nvfp4, base::NumberFormat::nvfp4};
  s.precision.mlp = s.precision.shared = s.precision.latent = s.precision.recurrent = fp4;
  CHECK(estimated(s).fits());
  s.precision.experts = fp4;
  CHECK(sim::reason(estimated(s)) == "the chip has no fp4 tensor rate");
}

TEST_CASE("A chip without a known vector rate runs no recurrences", "[unit]") {
  auto s = eight_h200({1000, 500, 16, 0});
  s.model = laws::model("nemotron-h-8b");
  s.precision = laws::precision("bf16");
  CHECK(estimated(s).fits());
  s.platform.machine.peak[static_cast<std::size_t>(base::MathType::fp32)] = {};
  CHECK(sim::reason(estimated(s)) == "the chip has no fp32 vector rate");
}

TEST_CASE("A chip without bf16 runs fp16, and says why it does not run bf16", "[unit]") {
  auto s = eight_h200({1000, 500, 16, 0});
  s.platform = laws::platform("v100_cluster_128");
  s.deployment.mapping = {16, 2, 1, 1, false};
  s.precision = laws::precision("bf16");
  CHECK(sim::reason(estimated(s)) == "the chip has no bf16 tensor rate");
  for (const std::string_view model : {"llama-3.1-70b", "deepseek-v2", "mixtral-8x7b"}) {
    INFO(model);
    s.model = laws::model(model);
    s.precision = laws::precision("fp16");
    CHECK(estimated(s).fits());
    CHECK(std::isfinite(estimated(s).steady.tpot.si()));
  }
  // Half the linear layers' formats do not help when attention has no multiplier.
  s = eight_h200({1000, 500, 16, 0});
  s.platform.machine.peak[static_cast<std::size_t>(base::MathType::bf16)] = {};
  s.platform.machine.peak[static_cast<std::size_t>(base::MathType::fp16)] = {};
  s.precision.kv_cache = base::NumberFormat::bf16;
  s.precision.head = s.precision.mlp;
  CHECK(sim::reason(estimated(s)) == "the chip has no fp16 tensor rate");
}

TEST_CASE("Two pools on a measured chip and stack have measured parameters", "[unit]") {
  const sim::Scenario pools = sim::read_scenario(base::parse_document(
      "test",
      "system: hgx_h200\nmodel: llama-3.1-8b\nprecision: fp8\nserving: {stack: vllm}\n"
      "deployment: {prefill: {tensor_parallel: 1}, decode: {tensor_parallel: 1}}\n"
      "traffic: {input_tokens: 512, output_tokens: 64, concurrency: 8}\n"));
  CHECK(estimated(pools).provenance == hardware::Provenance::measured_corrected);
}

}  // namespace roofcast::unit_sim_serving_steady_state
