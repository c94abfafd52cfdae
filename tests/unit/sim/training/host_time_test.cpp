// SPDX-License-Identifier: Apache-2.0
#include "sim/training/host_time.hpp"

#include <string>

#include "sim/estimate.hpp"
#include "sim/result/training_step.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"
#include "tests/unit/sim/training/step_of.hpp"

namespace roofcast::sim::unit_sim_training_host_time {
namespace {

using base::Seconds;
using workloads::Call;
using workloads::Training;

constexpr Seconds ms = 1e-3 * base::second;

Training paced() {
  Training t;
  t.trainer.operator_time = 1.0 * ms;
  t.trainer.expert_kernel = 0.5 * ms;
  t.trainer.counts = 3.0 * ms;
  return t;
}

// Two layers of attention and a mixture with four experts on the rank.
HostTime layers(const Training& t, Seconds attention, Seconds routing, Seconds experts) {
  HostTime host;
  host.add({workloads::Gemm{}, "attention.qkv", 2.0}, attention, t);
  host.add({workloads::ExpertRouting{}, "moe.routing", 2.0}, routing, t);
  workloads::GroupedGemm product;
  product.distinct = 4.0;
  host.add({product, "moe.up", 2.0}, experts, t);
  return host;
}

}  // namespace

// h = 2 · 1, H = 2 · 1 + 2 · 4 · 0.5 = 6, stops 2 · 3.
TEST_CASE("A forward pass waits for the host behind the routers, as derived by hand", "[unit]") {
  const Training t = paced();
  const HostTime slow_gpu = layers(t, 20.0 * ms, 5.0 * ms, 15.0 * ms);
  CHECK(slow_gpu.forward_waits(1.0, {}, t).si() == Approx(0.0).margin(1e-12));
  const HostTime behind = layers(t, 20.0 * ms, 1.0 * ms, 3.0 * ms);
  CHECK(behind.forward_waits(1.0, {}, t).si() == Approx(8e-3));  // 12 for 4
  CHECK(behind.forward_waits(2.0, {}, t).si() == Approx(4e-3));  // 12 for 8
  CHECK(behind.forward_waits(1.0, 2.0 * ms, t).si() == Approx(10e-3));
  const HostTime all = layers(t, 1.0 * ms, 1.0 * ms, 3.0 * ms);
  CHECK(all.forward_waits(1.0, {}, t).si() == Approx(9e-3));  // 14 for 1 + 4
}

TEST_CASE("A backward pass stops nowhere: it waits where the host takes longer than the GPU",
          "[unit]") {
  const Training t = paced();
  CHECK(layers(t, 1.0 * ms, 1.0 * ms, 3.0 * ms).backward_waits(1.0, {}, t).si() == Approx(3e-3));
  CHECK(layers(t, 5.0 * ms, 1.0 * ms, 3.0 * ms).backward_waits(1.0, {}, t).si() ==
        Approx(0.0).margin(1e-12));
}

TEST_CASE("What a CUDA graph launches costs the host nothing", "[unit]") {
  Training t = paced();
  t.cuda_graphs.add(workloads::GraphedPart::attention);
  CHECK(layers(t, 1.0 * ms, 1.0 * ms, 3.0 * ms).forward_waits(1.0, {}, t).si() == Approx(8e-3));
  t.cuda_graphs.full = true;
  CHECK(layers(t, 1.0 * ms, 1.0 * ms, 3.0 * ms).forward_waits(1.0, {}, t).si() ==
        Approx(0.0).margin(1e-12));
}

TEST_CASE("One kernel for all experts needs no counts and one launch", "[unit]") {
  Training t = paced();
  t.grouped_experts = true;
  // h = 2 + 2 + 2, without stops
  CHECK(layers(t, 1.0 * ms, 1.0 * ms, 3.0 * ms).forward_waits(1.0, {}, t).si() == Approx(1e-3));
}

TEST_CASE("The sum of gradients is no launch of its own, and what is outside the layers none here",
          "[unit]") {
  const Training t = paced();
  HostTime host;
  Call sum{workloads::Elementwise{}, "mlp.up", 3.0};
  sum.weight_gradient = true;
  host.add(sum, {}, t);
  Call head{workloads::Gemm{}, "head.logits", 1.0};
  head.in_layers = false;
  host.add(head, {}, t);
  CHECK(host.backward_waits(1.0, {}, t).si() == 0.0);
}

TEST_CASE("Graphs, grouped experts and larger micro-batches make a step of small ones no slower",
          "[unit]") {
  const auto token_time = [](int micro_batch, const std::string& more) {
    return step_of(read_scenario(base::parse_document(
        "test",
        "system: hgx_b200\nmodel: qwen3-30b-a3b\nprecision: fp8\ndeployment: {data_parallel: 8, "
        "expert_parallel: 8}\ntraining: {sequence_length: 2048, global_batch: 512, gradients: "
        "bf16, trainer: megatron, micro_batch: " +
            std::to_string(micro_batch) + more + "}\n")));
  };
  const TrainingStep eager = token_time(1, "");
  const TrainingStep some = token_time(1, ", cuda_graphs: [attention, router]");
  const TrainingStep full = token_time(1, ", cuda_graphs: full");
  CHECK(eager.waits > some.waits);
  CHECK(some.waits > full.waits);
  CHECK(full.waits.si() == 0.0);
  CHECK(eager.time > some.time);
  CHECK(some.time > full.time);
  CHECK(token_time(2, "").time < eager.time);
}

}  // namespace roofcast::sim::unit_sim_training_host_time
