// SPDX-License-Identifier: Apache-2.0
//
// What a seed draws: another seed draws another sample, and an estimate hardly depends on it.
#include <fmt/format.h>

#include <cstdint>
#include <set>
#include <string>

#include "sim/estimate.hpp"
#include "sim/replay/front_stages.hpp"
#include "sim/replay/simulation_summary.hpp"
#include "tests/catch.hpp"
#include "tests/laws/cases/simulations.hpp"

namespace roofcast::sim::laws_replay_seeds {
namespace {

StreamedScenario scenario(const std::string& serving, const std::string& traffic) {
  return read_streamed_scenario(base::parse_document(
      "test", fmt::format("system: hgx_h200\nmodel: llama-3.1-70b\nprecision: fp8\n"
                          "deployment: {{tensor_parallel: 4}}\nserving: {{stack: vllm{}}}\n"
                          "traffic: {{{}}}\n",
                          serving, traffic)));
}

}  // namespace

TEST_CASE("No two seeds share the time of a stage", "[laws]") {
  const workloads::Duration duration{1.0 * base::second, 1.0};
  std::set<double> times;
  for (std::uint64_t seed = 1; seed <= 64; ++seed) {
    for (std::uint64_t request = 0; request < 64; ++request) {
      times.insert(drawn(duration, seed, request, "stage").si());
    }
  }
  CHECK(times.size() == 64 * 64);
}

TEST_CASE("Another seed accepts other drafts, as many on average", "[laws]") {
  std::set<double> tpots;
  for (const int seed : {1, 2, 3, 4}) {
    const StreamedScenario s =
        scenario(", speculative: {method: eagle, draft_tokens: 3, acceptance: 0.7}",
                 fmt::format("input_tokens: 2048, output_tokens: 512, concurrency: 16, requests: "
                             "64, seed: {}",
                             seed));
    tpots.insert(summarise(laws::run(s), 0, {}).tpot.mean.si());
  }
  CHECK(tpots.size() == 4);
  CHECK(*tpots.rbegin() < 1.05 * *tpots.begin());
}

TEST_CASE("Tasks that arrive bring exactly their turns, and are estimated alike with every seed",
          "[laws]") {
  const auto estimated = [](double rate, int seed) {
    const StreamedScenario s = scenario(
        "", fmt::format("seed: {}, agents: {{arrivals: {{process: poisson, rate: {} /s}}, turns: "
                        "{{uniform: [5, 25]}}, initial_context: 8000, shared_context: 4000, "
                        "output_tokens: {{uniform: [50, 450]}}, tool_tokens: {{uniform: [100, "
                        "1500]}}, tools: [{{time: 2 s, cv: 1}}]}}",
                        seed, rate));
    Workspace workspace;
    return estimate(view(s.scenario), workspace);
  };
  const ServingEstimate first = estimated(0.36, 1);
  REQUIRE(first.fits());
  for (const int seed : {1, 1000, 5000, 9000}) {
    INFO(seed);
    const ServingEstimate e = estimated(0.36, seed);
    CHECK(e.steady.requests_per_second == Approx(0.36 * 15.0));
    CHECK(e.steady.ttft_mean.si() == Approx(first.steady.ttft_mean.si()).epsilon(0.01));
    CHECK(e.task.mean.si() == Approx(first.task.mean.si()).epsilon(0.02));
    CHECK(estimated(0.42, seed).fits());  // 6.3 of at most 6.35
  }
}

}  // namespace roofcast::sim::laws_replay_seeds
