// SPDX-License-Identifier: Apache-2.0
#include "sim/replay/prompt_batches.hpp"

#include <string>
#include <vector>

#include "base/packing.hpp"
#include "base/statistics/random.hpp"
#include "sim/replay/simulate.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"
#include "tests/laws/cases/simulations.hpp"

namespace roofcast::sim::laws_replay_prompt_batches {
namespace {

using Lengths = std::vector<std::int64_t>;

StreamedScenario scenario(const std::string& deployment, const std::string& serving) {
  StreamedScenario s = read_streamed_scenario(base::parse_document(
      "test", "system: hgx_h200\nmodel: llama-3.1-70b\nprecision: fp8\ndeployment: " + deployment +
                  "\nserving: " + serving +
                  "\ntraffic: {input_tokens: 1000, output_tokens: 1, concurrency: 8}\n"));
  laws::without_front_end(s.scenario.serving.stack);
  return s;
}

Lengths drawn(std::size_t count) {
  base::Random random(2, "prompts");
  const workloads::Lengths lengths{workloads::Lengths::Shape::lognormal, 1, 8192, 1500.0, 1.2};
  Lengths tokens;
  for (std::size_t i = 0; i < count; ++i) {
    tokens.push_back(workloads::draw(lengths, random));
  }
  return tokens;
}

std::vector<Iteration> iterations_of(const base::Bins& bins, const Lengths& lengths) {
  std::vector<Iteration> iterations;
  for (const base::Bin& bin : bins) {
    Lengths own;
    for (const std::size_t item : bin.items) {
      own.push_back(lengths[item]);
    }
    iterations.push_back(iteration_of(own));
  }
  return iterations;
}

}  // namespace

TEST_CASE("Unequal prompts count as equal ones that attend to as many tokens", "[unit]") {
  const Iteration equal = iteration_of(Lengths{512, 512, 512});
  CHECK(equal.prompts == 3);
  CHECK(equal.prompt_tokens == 1536);
  CHECK(equal.cached == 0.0);
  // 100²/2 + 300²/2 = 50,000 = 400 · (K + 100)
  const Iteration unequal = iteration_of(Lengths{100, 300});
  CHECK(unequal.prompt_tokens == 400);
  CHECK(unequal.cached == Approx(25.0));
}

TEST_CASE("A batch of one prompt takes its iteration; batches follow each other", "[laws]") {
  const StreamedScenario s = scenario("{tensor_parallel: 8}", "{stack: vllm}");
  PromptBatches engine(view(s.scenario));
  Workspace workspace;
  base::Seconds sum;
  std::vector<Iteration> batches;
  for (const std::int64_t tokens : {100, 777, 8192}) {
    batches.push_back(iteration_of(Lengths{tokens}));
    sum += iteration_cost(view(s.scenario), {0, 1, 0, 1, tokens, 0, 1}, workspace).latency;
  }
  const PromptBatches::Times times = engine.times(batches);
  CHECK(times.batches.size() == 3);
  CHECK(times.all.si() == Approx(sum.si()));
  CHECK(engine.times({}).all.si() == 0.0);
}

TEST_CASE("Prompts packed as they come take as long as in the simulator, to a hundredth",
          "[laws]") {
  const Lengths lengths = drawn(300);
  const std::pair<const char*, const char*> cases[] = {
      {"{tensor_parallel: 8}", "{stack: vllm, scheduler: {chunked_prompts: false}}"},
      {"{tensor_parallel: 8}", "{stack: sglang, scheduler: {chunked_prompts: false}}"},
      {"{tensor_parallel: 4, pipeline_parallel: 2}",
       "{stack: vllm, scheduler: {chunked_prompts: false}}"}};
  for (const auto& [deployment, serving] : cases) {
    INFO(deployment << " " << serving);
    const StreamedScenario s = scenario(deployment, serving);
    PromptBatches engine(view(s.scenario));
    const base::Bins bins = base::packed_as_they_come(lengths, engine.most_tokens());
    const double packed = engine.times(iterations_of(bins, lengths)).all.si();
    workloads::Requests requests;
    for (const std::int64_t tokens : lengths) {
      workloads::Request request;
      request.input_tokens = tokens;
      request.output_tokens = 1;
      requests.requests.push_back(request);
    }
    const Simulation simulation = simulate(view(s.scenario), requests, 0);
    CHECK(simulation.iterations == static_cast<std::int64_t>(bins.size()));
    CHECK(packed == Approx(simulation.end.si()).epsilon(0.01));
  }
}

TEST_CASE("Attention-DP ranks take a batch each, and the slowest sets the time", "[laws]") {
  const StreamedScenario s = scenario("{tensor_parallel: 2, data_parallel: 4}", "{stack: vllm}");
  PromptBatches engine(view(s.scenario));
  const std::vector<Iteration> batches =
      iterations_of(base::packed_as_they_come(Lengths{8000, 100, 100, 100, 500}, 8000),
                    {8000, 100, 100, 100, 500});
  REQUIRE(batches.size() == 2);
  const PromptBatches::Times times = engine.times(batches);
  CHECK(times.batches[0].si() == times.batches[1].si());
  CHECK(times.all.si() == times.batches[0].si());
  // Five batches need a second iteration.
  const std::vector<Iteration> five(5, batches[0]);
  CHECK(engine.times(five).all > engine.times(std::span(five).first(4)).all);
}

TEST_CASE("What the engine cannot compute at once has a reason", "[unit]") {
  const StreamedScenario s = scenario("{tensor_parallel: 8}", "{stack: vllm}");
  const PromptBatches engine(view(s.scenario));
  CHECK(engine.misfit(engine.most_tokens(), 8000).empty());
  CHECK_THAT(engine.misfit(engine.most_tokens() + 1, 8000),
             Catch::Contains("serving.max_tokens_per_iteration"));
  CHECK_THAT(engine.misfit(8000, 10'000'000), Catch::Contains("context"));
  const StreamedScenario large =
      scenario("{tensor_parallel: 1}", "{stack: vllm, memory_fraction: 0.3}");
  CHECK_THAT(PromptBatches(view(large.scenario)).misfit(8000, 8000), Catch::Contains("GPU"));
}

}  // namespace roofcast::sim::laws_replay_prompt_batches
