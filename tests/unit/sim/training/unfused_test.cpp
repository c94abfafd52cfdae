// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "models/operators/operator_cost.hpp"
#include "sim/result/training_step.hpp"
#include "sim/scenario/sections.hpp"
#include "sim/training/exchange.hpp"
#include "sim/training/training.hpp"
#include "tests/catch.hpp"
#include "workloads/graph/training_graph.hpp"
#include "workloads/graph/unfused_kernels.hpp"

namespace roofcast::sim::unit_sim_training_unfused {
namespace {

Scenario of(const std::string& model, const std::string& training) {
  return read_scenario(base::parse_document(
      "test", "system: hgx_h100\nmodel: " + model +
                  "\nprecision: bf16\ndeployment: {data_parallel: 8}\n"
                  "training: {sequence_length: 4096, global_batch: 8, trainer: megatron" +
                  training + "}\n"));
}

// ms on an H100, of the forward pass and of the backward pass that follows from it.
double milliseconds(const workloads::Elementwise& kernel) {
  const Scenario s = of("llama-3.1-8b", "");
  workloads::Graph forward;
  forward.push_back({kernel, "kernel"});
  double sum = models::cost_of(kernel, s.platform.machine).time.si();
  for (const workloads::Call& call : workloads::backward_graph(forward, {}, 1.0, 4.0)) {
    sum += models::cost_of(call.op, s.platform.machine).time.si();
  }
  return 1e3 * sum;
}

bool has(const Scenario& s, std::string_view name) {
  const workloads::Graph graph =
      forward_graph(view(s), s.deployment.mapping, micro_batches(view(s)));
  return std::any_of(graph.begin(), graph.end(),
                     [&](const workloads::Call& call) { return call.name == name; });
}

}  // namespace

// Measured on an H100 with PyTorch 2.11 (calibrate/bench/torch/unfused.py), both passes, 4,096 tokens.
TEST_CASE("Kernels that nothing fuses take as long as measured on an H100", "[unit]") {
  CHECK(milliseconds(workloads::unfused_loss(4096.0 * 131072)) == Approx(10.76).epsilon(0.1));
  CHECK(milliseconds(workloads::unfused_rope(4096.0 * 64 * 64)) == Approx(0.539).epsilon(0.2));
  CHECK(milliseconds(workloads::unfused_bias(16384.0 * 2880)) == Approx(1.99).epsilon(0.1));
  CHECK(milliseconds(workloads::unfused_bias(65536.0 * 2880)) == Approx(6.19).epsilon(0.35));
  // With the kernel that follows, less what that takes alone.
  CHECK(milliseconds(workloads::unfused_clamp(16384.0 * 5760)) ==
        Approx(1.593 - 0.458).epsilon(0.1));
  CHECK(milliseconds(workloads::unfused_clamp(65536.0 * 5760)) ==
        Approx(6.246 - 1.495).epsilon(0.1));
  // Of 16 heads of 128 and of 64 of 64: attention with dropout, less without.
  const double pairs = 4096.0 * 4096 / 2;
  CHECK(milliseconds(workloads::dropout_of_scores(16.0 * pairs)) ==
        Approx(0.847 - 0.589).epsilon(0.25));
  CHECK(milliseconds(workloads::dropout_of_scores(64.0 * pairs)) ==
        Approx(2.125 - 1.301).epsilon(0.1));
}

TEST_CASE("A training has the kernels that it says nothing fuses", "[unit]") {
  CHECK(has(of("llama-3.1-8b", ", dropout: true"), "attention.dropout"));
  CHECK(has(of("llama-3.1-8b", ", dropout: true"), "residual.dropout"));
  CHECK_FALSE(has(of("llama-3.1-8b", ""), "residual.dropout"));
  CHECK(has(of("qwen3-30b-a3b", ", fused_experts: false"), "moe.bias"));
  CHECK_FALSE(has(of("qwen3-30b-a3b", ""), "moe.bias"));
}

TEST_CASE("An exchange that is hidden takes SMs from the pass that hides it", "[unit]") {
  const base::Seconds ms = 1e-3 * base::second;
  const Beside beside{true, 0.1};
  // 40 ms behind 100 ms, in 10 pieces: one is open, a tenth of the others is taken.
  CHECK(exposed(40.0 * ms, 100.0 * ms, 10.0, beside).si() == Approx((4.0 + 0.1 * 36.0) * 1e-3));
  CHECK(exposed(140.0 * ms, 100.0 * ms, 10.0, beside).si() == Approx((40.0 + 0.1 * 100.0) * 1e-3));
  CHECK(exposed(40.0 * ms, 100.0 * ms, 10.0, {false, 0.1}) == 40.0 * ms);
}

}  // namespace roofcast::sim::unit_sim_training_unfused
