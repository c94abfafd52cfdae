// SPDX-License-Identifier: Apache-2.0
#include "sim/confirm/full_iterations.hpp"

#include <string>

#include "sim/estimate.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::sim::unit_sim_serving_full_iterations {
namespace {

Scenario scenario(const std::string& input, const std::string& serving) {
  return read_scenario(base::parse_document(
      "test",
      "system: hgx_b200\nmodel: llama-3.1-70b\ndeployment: {tensor_parallel: 8}\n"
      "serving: {" +
          serving + "}\ntraffic: {input_tokens: " + input +
          ", output_tokens: 256, concurrency: 4}\n"));
}

}  // namespace

TEST_CASE(
    "Whole prompts that have no room beside decodes are told, and the limit that is named ends "
    "their wait",
    "[unit]") {
  Workspace workspace;
  const Scenario full = scenario("8192", "stack: trtllm");
  const ServingEstimate waits = estimate(view(full), workspace);
  const std::string told = full_iterations(view(full), waits);
  CHECK(told.find("100% of the prompts") != std::string::npos);
  CHECK(told.find("max_tokens_per_iteration: 8195 is enough") != std::string::npos);

  const Scenario roomy = scenario("8192", "stack: trtllm, max_tokens_per_iteration: 8195");
  const ServingEstimate runs = estimate(view(roomy), workspace);
  CHECK(full_iterations(view(roomy), runs).empty());
  CHECK(runs.steady.ttft_mean < 0.5 * waits.steady.ttft_mean);

  const Scenario less = scenario("8195", "stack: trtllm, max_tokens_per_iteration: 8197");
  CHECK_FALSE(full_iterations(view(less), estimate(view(less), workspace)).empty());

  const Scenario some = scenario("{uniform: [7193, 8192]}", "stack: trtllm");
  CHECK(full_iterations(view(some), estimate(view(some), workspace)).empty());  // 0.3 % of them

  const Scenario chunks = scenario("8192", "stack: vllm");
  CHECK(full_iterations(view(chunks), estimate(view(chunks), workspace)).empty());
}

}  // namespace roofcast::sim::unit_sim_serving_full_iterations
