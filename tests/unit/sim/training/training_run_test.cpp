// SPDX-License-Identifier: Apache-2.0
#include "sim/training/training_run.hpp"

#include <cmath>
#include <string>

#include "sim/estimate.hpp"
#include "sim/result/metrics.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::sim {
namespace {

ServingEstimate estimated(const std::string& run) {
  const Scenario s = read_scenario(base::parse_document(
      "test",
      "system: h100_cluster_128\nmodel: llama-3.1-8b\nprecision: bf16\ndeployment: "
      "{data_parallel: 16}\ntraining: {sequence_length: 2048, global_batch: 128, trainer: "
      "megatron}\nrun: {steps: 10000, checkpoint: {write: 100 GB/s}, " +
          run + "}\n"));
  Workspace workspace;
  return estimate(view(s), workspace);
}

}  // namespace

TEST_CASE("A run that failures never let go on is infeasible and says so", "[unit]") {
  const ServingEstimate e = estimated(
      "failures: {per_thousand_gpu_days: {gpu: 1000, source: an absurd rate}}, restart: {time: 2 "
      "d}");
  CHECK_FALSE(e.fits());
  CHECK(reason(e).find("the run takes longer than") != std::string::npos);
}

TEST_CASE("A run without failures has no time between them, and every other metric", "[unit]") {
  const ServingEstimate e = estimated("failures: none, restart: {time: 5 min}");
  REQUIRE(e.fits());
  for (const Metric& metric : metrics()) {
    if (metric.of_run) {
      INFO(metric.name);
      CHECK(std::isfinite(metric.value(e)) == (metric.name != "between_failures_s"));
    }
  }
  CHECK(e.workflow->run->mean.interruptions == 0.0);
}

}  // namespace roofcast::sim
