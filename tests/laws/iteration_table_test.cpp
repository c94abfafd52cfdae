// SPDX-License-Identifier: Apache-2.0
#include "sim/iteration/iteration_table.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/statistics/random.hpp"
#include "sim/iteration/coarse_iterations.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::sim::laws_iteration_table {
namespace {

constexpr const char* kDeployments[] = {
    "system: hgx_h200\nmodel: llama-3.1-70b\nprecision: fp8\ndeployment: {tensor_parallel: 8}\n"
    "serving: {stack: vllm}\n",
    "system: hgx_h100\nmodel: llama-3.1-8b\nprecision: bf16\ndeployment: {tensor_parallel: 1}\n"
    "serving: {stack: vllm}\n",
    "system: hgx_h200\nmodel: llama-3.1-70b\nprecision: fp8\n"
    "deployment: {tensor_parallel: 4, pipeline_parallel: 2}\nserving: {stack: trtllm}\n",
    "system: gb200_nvl72\nmodel: deepseek-v3\nprecision: fp8_block\n"
    "deployment: {tensor_parallel: 1, expert_parallel: 32, data_parallel: 32}\n"
    "serving: {stack: sglang}\n",
    "system: hgx_b200\nmodel: gpt-oss-120b\ndeployment: {tensor_parallel: 2}\n"
    "serving: {stack: trtllm}\n",
    "system: hgx_h200\nmodel: nemotron-h-47b\nprecision: bf16\ndeployment: {tensor_parallel: 4}\n"
    "serving: {stack: vllm}\n"};

Scenario scenario(const std::string& deployment) {
  return read_scenario(base::parse_document(
      "test", deployment + "traffic: {input_tokens: 1024, output_tokens: 128, concurrency: 8}\n"));
}

// As many small ones as large ones.
std::int64_t spread(base::Random& random, double least, double most) {
  return static_cast<std::int64_t>(least * std::pow(most / least, random.uniform()));
}

workloads::Batch batch_of(const Iteration& i, std::int64_t groups) {
  return {i.decodes,
          1,
          static_cast<std::int64_t>(i.context),
          i.prompts,
          i.prompts > 0 ? i.prompt_tokens / i.prompts : 0,
          static_cast<std::int64_t>(i.cached),
          groups};
}

}  // namespace

TEST_CASE("A looked-up step takes as long as an added-up one: 99 % within 5 %, all within 6 %",
          "[laws]") {
  for (const char* deployment : kDeployments) {
    INFO(deployment);
    const Scenario s = scenario(deployment);
    const std::int64_t groups = s.deployment.mapping.data_parallel;
    IterationTable times(view(s), groups);
    Workspace workspace;
    base::Random random(7, "iterations");
    std::vector<double> errors;
    for (int i = 0; i < 1000; ++i) {
      Iteration iteration;
      const std::int64_t kind = random.integer(0, 3);  // decodes, one prompt, prompts, all
      if (kind != 2) {
        iteration.decodes = spread(random, 1.0, 257.0);
        iteration.context = static_cast<double>(spread(random, 16.0, 16384.0));
      }
      if (kind > 0) {
        iteration.prompts = kind == 1 ? 1 : spread(random, 1.0, 13.0);
        const double longest = 8000.0 / static_cast<double>(iteration.prompts);
        iteration.prompt_tokens = iteration.prompts * spread(random, 1.0, longest);
        iteration.cached = kind > 1 && random.uniform() < 0.5
                               ? static_cast<double>(spread(random, 1.0, 30000.0))
                               : 0.0;
      }
      const IterationCost exact = iteration_cost(view(s), batch_of(iteration, groups), workspace);
      const IterationTime time = times(iteration);
      errors.push_back(std::abs(time.latency / exact.latency - 1.0));
      errors.push_back(std::abs(time.period / exact.period - 1.0));
    }
    std::sort(errors.begin(), errors.end());
    CHECK(errors[errors.size() * 99 / 100] < 0.05);
    CHECK(errors.back() < 0.06);
  }
}

TEST_CASE("A prompt alone, whatever its length, and a step at its nodes take what they cost",
          "[laws]") {
  const Scenario s = scenario(kDeployments[0]);
  IterationTable times(view(s), 1);
  Workspace workspace;
  for (const Iteration& i :
       {Iteration{0, 0, 1, 777, 0}, Iteration{0, 0, 1, 8191, 0}, Iteration{100, 16, 0, 0, 0},
        Iteration{64, 16, 1, 1, 0}, Iteration{0, 0, 4, 4096, 0}}) {
    const IterationCost exact = iteration_cost(view(s), batch_of(i, 1), workspace);
    CHECK(times(i).latency.si() == Approx(exact.latency.si()));
  }
}

TEST_CASE("Steps that were asked before cost nothing more", "[laws]") {
  const Scenario s = scenario(kDeployments[0]);
  IterationTable times(view(s), 1);
  const Iteration iteration{37, 1234.5, 3, 1000, 55.5};
  const base::Seconds first = times(iteration).latency;
  const std::size_t costs = times.costs();
  CHECK(times(iteration).latency == first);
  CHECK(times.costs() == costs);
}

// Absent rows of fixed tiles change with every token. Between nodes they are what they are on average.
TEST_CASE("Coarse times of iterations with prompts are those of added-up ones: 90 % within 15 %",
          "[laws]") {
  for (const char* deployment : kDeployments) {
    INFO(deployment);
    const Scenario s = scenario(deployment);
    Workspace workspace;
    const std::int64_t groups = s.deployment.mapping.data_parallel;
    CoarseIterations times(view(s), workspace, groups);
    base::Random random(8, "iterations");
    const auto context = static_cast<std::int64_t>(workloads::mean_context(s.traffic));
    std::vector<double> errors;
    std::vector<double> periods;
    for (int i = 0; i < 400; ++i) {
      workloads::Batch batch;
      batch.decode_sequences = i % 2 == 0 ? 0 : spread(random, 1.0, 257.0);
      batch.context = context;
      batch.prefill_sequences = spread(random, 1.0, 5.0);
      batch.prefill_tokens =
          spread(random, 16.0, 8000.0 / static_cast<double>(batch.prefill_sequences));
      batch.groups = groups;
      const auto tokens = static_cast<double>(batch.prefill_sequences * batch.prefill_tokens);
      const IterationTime time = times(batch.decode_sequences, tokens,
                                       0.5 * tokens * static_cast<double>(batch.prefill_tokens));
      const IterationCost exact = iteration_cost(view(s), batch, workspace);
      errors.push_back(std::abs(time.latency / exact.latency - 1.0));
      periods.push_back(std::abs(time.period / exact.period - 1.0));
    }
    std::sort(errors.begin(), errors.end());
    CHECK(errors[errors.size() / 2] < 0.022);
    CHECK(errors[errors.size() * 9 / 10] < 0.15);
    std::sort(periods.begin(), periods.end());
    CHECK(periods[periods.size() / 2] < 0.025);
    CHECK(periods[periods.size() * 9 / 10] < 0.15);
  }
}

// Dense, sparse and windowed attention: the last two take little more for tokens that are far away.
TEST_CASE("A chunk of a prompt takes as long as an added-up one, however long it is before",
          "[laws]") {
  for (const char* deployment : {kDeployments[0], kDeployments[4],
                                 "system: hgx_b200\nmodel: deepseek-v3.2\nprecision: fp8_block\n"
                                 "deployment: {tensor_parallel: 8}\nserving: {stack: vllm}\n"}) {
    const Scenario s = scenario(deployment);
    Workspace workspace;
    CoarseIterations times(view(s), workspace, 1);
    for (const std::int64_t tokens : {200, 1500, 2048, 6000}) {
      for (const std::int64_t cached : {100, 3000, 20000, 50000, 110000}) {
        INFO(deployment << tokens << " tokens after " << cached);
        const auto n = static_cast<double>(tokens);
        const IterationTime time = times(0, n, n * (static_cast<double>(cached) + 0.5 * n));
        const IterationCost exact =
            iteration_cost(view(s), {0, 1, 0, 1, tokens, cached, 1}, workspace);
        CHECK(time.latency / exact.latency == Approx(1.0).margin(0.2));
      }
    }
  }
}

}  // namespace roofcast::sim::laws_iteration_table
