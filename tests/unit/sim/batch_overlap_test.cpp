// SPDX-License-Identifier: Apache-2.0
#include "sim/iteration/batch_overlap.hpp"

#include "sim/estimate.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::sim::unit_sim_batch_overlap {
namespace {

constexpr base::Seconds kSecond = base::Seconds::from_si(1.0);

Scenario wide(const std::string& overlap, const std::string& model = "deepseek-v3") {
  return read_scenario(base::parse_document(
      "test", "system: h800_cluster_128\nmodel: " + model +
                  "\nprecision: fp8\ndeployment: {data_parallel: 32, expert_parallel: 32}\n"
                  "serving: {stack: sglang, overlap: " +
                  overlap +
                  "}\ntraffic: {input_tokens: 4096, output_tokens: 512, concurrency: 1024}\n"));
}

workloads::Batch prompts(std::int64_t sequences) { return {0, 1, 0, sequences, 4096, 0}; }
workloads::Batch decodes(std::int64_t sequences) { return {sequences, 1, 4096}; }

double step_of(const std::string& overlap, const workloads::Batch& batch) {
  const Scenario s = wide(overlap);
  Workspace workspace;
  return iteration_cost(view(s), batch, workspace).latency.si();
}

double time_of(const Scenario& s, const workloads::Batch& batch, std::string_view name) {
  double time = 0.0;
  for (const OperatorLine& line : iteration_operators(view(s), batch)) {
    time += line.call.name.starts_with(name) ? line.time.si() : 0.0;
  }
  return time;
}

}  // namespace

// Ten seconds of computing and four of exchanges, in so many layers that the ends are nothing: the exchanges
// are hidden. Kernels on 20 of 100 SMs slow what they hide: a fifth of their time is seen. The other way
// round only exchanges are seen.
TEST_CASE("The longer of computing and exchanging hides the other", "[unit]") {
  constexpr double kDeep = 1e12;
  const auto all = [](double compute, double exchange, double free_sms, double layers) {
    const Exposed e = exposed(compute * kSecond, exchange * kSecond, free_sms, layers);
    return e.compute * compute + e.exchange * exchange;
  };
  CHECK(all(10.0, 4.0, 1.0, kDeep) == Approx(10.0));
  CHECK(all(10.0, 4.0, 0.8, kDeep) == Approx(10.8));
  CHECK(all(4.0, 10.0, 0.8, kDeep) == Approx(10.0));
  CHECK(all(4.0, 4.0, 0.0, kDeep) == Approx(8.0));
  CHECK(all(10.0, 4.0, 1.0, 5.0) == Approx(10.4));
  CHECK(all(10.0, 0.0, 1.0, 5.0) == 10.0);
}

TEST_CASE("Two batches pay where exchanges are long, and cost a batch too small to cut nothing",
          "[unit]") {
  CHECK(step_of("two batches", prompts(4)) < 0.85 * step_of("none", prompts(4)));
  CHECK(step_of("two batches", decodes(1)) == step_of("none", decodes(1)));
  const auto half = [](const workloads::Batch& batch) {
    const Scenario s = wide("two batches");
    return half_of(view(s), batch);
  };
  CHECK_FALSE(half(decodes(1)));
  CHECK(half(decodes(5))->batch.decode_sequences == 3);
  CHECK(half(prompts(1))->batch.prefill_tokens == 2048);
  CHECK(half(prompts(1))->batch.cached_tokens == 1024);
  CHECK(half(prompts(3))->batch.prefill_sequences == 2);
  CHECK(half(prompts(3))->runs == Approx(1.5));
  const Scenario dense = read_scenario(base::parse_document(
      "test",
      "system: hgx_h200\nmodel: llama-3.1-70b\nprecision: fp8\ndeployment: {tensor_parallel: 8}\n"
      "serving: {stack: sglang, overlap: two batches}\n"
      "traffic: {input_tokens: 4096, output_tokens: 512, concurrency: 64}\n"));
  CHECK_FALSE(half_of(view(dense), decodes(64)));
}

TEST_CASE("Two batches take no less than the longer of what they compute and what they exchange",
          "[unit]") {
  const Scenario cut = wide("two batches");
  for (const auto& batch : {prompts(1), prompts(4), decodes(16), decodes(128)}) {
    double compute = 0.0;
    double exchange = 0.0;
    double seen = 0.0;
    for (const OperatorLine& line : iteration_operators(view(cut), batch)) {
      const double all = line.call.count * line.cost.time.si();
      (line.call.exchange ? exchange : compute) += all;
      seen += line.time.si();
    }
    CHECK(seen >= std::max(compute, exchange) * (1.0 - 1e-9));
    CHECK(seen < compute + exchange);
  }
}

TEST_CASE("Shared experts beside a dispatch take only what it does not hide", "[unit]") {
  const Scenario apart = wide("none");
  const Scenario overlapped = wide("shared experts");
  for (const auto& batch : {prompts(2), decodes(64)}) {
    const double shared = time_of(apart, batch, "moe.shared");
    const double dispatch = time_of(apart, batch, "moe.dispatch");
    CHECK(time_of(overlapped, batch, "moe.dispatch") == Approx(dispatch));
    CHECK(time_of(overlapped, batch, "moe.shared") ==
          Approx(std::max(0.0, shared - dispatch)).margin(1e-9));
  }
}

}  // namespace roofcast::sim::unit_sim_batch_overlap
