// SPDX-License-Identifier: Apache-2.0
#include "sim/iteration/iteration_cache.hpp"

#include <cmath>
#include <cstring>
#include <string>

#include "sim/decide/sweep_run.hpp"
#include "sim/estimate.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_sim_iteration_cache {

namespace {

bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

// Rows of the sweep with a value that an estimate alone has not, to the last bit.
std::size_t different_rows(const std::string& base, const std::string& axes) {
  const sim::SweepPoints points(
      sim::read_sweep(base::parse_document("sweep.yaml", "base:" + base + "\naxes:" + axes)));
  const sim::ResultTable table = sim::run_sweep(points, 1);
  std::size_t different = 0;
  std::size_t fits = 0;
  for (std::size_t row = 0; row < points.size(); ++row) {
    sim::Workspace fresh;
    sim::ServingEstimate alone = sim::estimate(points.scenario(row), fresh);
    sim::tell_causes(points.scenario(row), alone);
    fits += alone.fits() ? 1 : 0;
    bool same = table.fits(row) == alone.fits();
    for (const sim::Metric& metric : sim::metrics()) {
      const double value = alone.fits() ? metric.value(alone) : std::nan("");
      const double in_table = table.column(metric.name).number(row);
      same = same && (std::isnan(value) ? std::isnan(in_table) : same_bits(value, in_table));
    }
    different += same ? 0 : 1;
  }
  CHECK(fits > points.size() / 3);
  return different;
}

constexpr const char* kLoads =
    "\n  traffic.concurrency: [1, 6, 64, 300]"
    "\n  traffic.input_tokens: [300, 4096, 9000]"
    "\n  traffic.output_tokens: [1, 128, 500]\n";

}  // namespace

TEST_CASE("A row of a sweep has the bits of an estimate of its point alone", "[unit]") {
  const std::string dense =
      " {system: hgx_h200, model: llama-3.1-70b, precision: fp8, deployment: {tensor_parallel: 8},"
      " serving: {stack: vllm}, traffic: {input_tokens: 512, output_tokens: 128, concurrency: 8}}";
  CHECK(different_rows(dense, "\n  deployment.tensor_parallel: [4, 8]" + std::string(kLoads)) == 0);
  CHECK(different_rows(dense, kLoads + std::string("  system.chip.hbm.bandwidth: [x1, x1.5]\n")) ==
        0);
  CHECK(different_rows(dense,
                       "\n  deployment.pipeline_parallel: [1, 2]\n"
                       "  deployment.tensor_parallel: [4]\n"
                       "  serving.stack: [sglang, trtllm]" +
                           std::string(kLoads)) == 0);
  CHECK(different_rows(dense,
                       "\n  traffic.output_tokens: [{uniform: [100, 300]}]\n"
                       "  traffic.concurrency: [1, 6, 64]\n"
                       "  traffic.input_tokens: [300, {uniform: [100, 3000]}]\n") == 0);
}

TEST_CASE(
    "Experts, overlapped halves, windows, drafts, sparse attention and pools of a sweep have them "
    "too",
    "[unit]") {
  const auto base = [](const std::string& system, const std::string& model,
                       const std::string& deployment, const std::string& serving,
                       const std::string& precision = "fp8_block") {
    return " {system: " + system + ", model: " + model + ", precision: " + precision +
           ", deployment: {" + deployment + "}, serving: {" + serving +
           "}, traffic: {input_tokens: 512, output_tokens: 128, concurrency: 512}}";
  };
  const std::string few =
      "\n  traffic.concurrency: [64, 512]\n  traffic.input_tokens: [300, 4096]\n"
      "  traffic.output_tokens: [128, 500, 501]\n";
  const std::string wide = "tensor_parallel: 1, expert_parallel: 32, data_parallel: 32";
  CHECK(different_rows(base("gb200_nvl72", "deepseek-v3", wide, "stack: sglang"),
                       few + "  serving.overlap: [none, two batches]\n") == 0);
  CHECK(different_rows(base("gb200_nvl72", "deepseek-v3.2", wide, "stack: sglang"), few) == 0);
  CHECK(different_rows(base("hgx_h200", "deepseek-v3", "tensor_parallel: 8",
                            "stack: sglang, speculative: {method: mtp, draft_tokens: 2, "
                            "acceptance: 0.8}"),
                       few) == 0);
  CHECK(different_rows(
            base("hgx_h200", "gpt-oss-20b", "tensor_parallel: 1", "stack: vllm", "mxfp4_experts"),
            few) == 0);
  CHECK(different_rows(base("gb200_nvl72", "deepseek-v3",
                            "prefill: {tensor_parallel: 8, expert_parallel: 8, replicas: 2}, "
                            "decode: {tensor_parallel: 8, expert_parallel: 8}",
                            "stack: sglang"),
                       few) == 0);
}

TEST_CASE("A table of iterations keeps what was set, and gives no key's value to another",
          "[unit]") {
  sim::IterationCache::Table<int> table(2);
  std::size_t wrong = 0;
  for (int i = 0; i < 100; ++i) {
    sim::IterationCache::Key key;
    key.deployment = 1 + static_cast<std::uint32_t>(i % 3);
    key.batch.decode_sequences = i % 7;
    const auto [value, known] = table.at(key);
    const int expected = 10 * (i % 3) + i % 7;
    wrong += known && value != expected ? 1 : 0;
    value = expected;
    CHECK(table.at(key).second);
  }
  CHECK(wrong == 0);
}

TEST_CASE("Training runs of a sweep have the bits of an estimate of their point alone", "[unit]") {
  const std::string run =
      " {system: h100_cluster_128, model: llama-3.1-8b, precision: bf16, deployment: "
      "{tensor_parallel: 2, data_parallel: 8}, training: {sequence_length: 4096, global_batch: 64, "
      "trainer: megatron}, run: {steps: 10000, failures: llama3_h100, restart: {time: 5 min}, "
      "checkpoint: {write: 100 GB/s}}}";
  CHECK(different_rows(run,
                       "\n  run.detection: [1 min, 10 min]\n"
                       "  training.recompute: [none, full]\n"
                       "  deployment.data_parallel: [8, 16, 256]\n"
                       "  run.checkpoint.interval: [5 min, 1 h]\n"
                       "  system.chip.tensor.bf16: [x1, x1.1]\n") == 0);
}

}  // namespace roofcast::unit_sim_iteration_cache
