// SPDX-License-Identifier: Apache-2.0
//
// Clients whose answers outgrow the KV cache: sequences lose their places, and find little of what they had.
#include <fmt/format.h>

#include <cmath>

#include "sim/confirm/replayed_estimate.hpp"
#include "sim/estimate.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::sim::laws_replay_full_cache {
namespace {

struct Pair {
  ServingEstimate estimate;
  Replayed replayed;
};

Pair at(int clients, bool keeps) {
  const StreamedScenario s = read_streamed_scenario(base::parse_document(
      "test", fmt::format("system: hgx_h200\nmodel: llama-3.1-70b\nprecision: fp8\n"
                          "deployment: {{tensor_parallel: 1}}\n"
                          "serving: {{stack: vllm, scheduler: {{prefix_cache: {}}}}}\n"
                          "traffic: {{input_tokens: 500, output_tokens: {{uniform: [1000, 3000]}}, "
                          "concurrency: {}}}\n",
                          keeps, clients)));
  Workspace workspace;
  ReplaySpace space;
  const ServingEstimate e = estimate(view(s.scenario), workspace);
  ReplayPlan plan;
  plan.once = true;
  return {e, replay(view(s.scenario), s.stream, e, plan, space)};
}

}  // namespace

// An estimate that finds nearly all tokens again is 25 % too fast with 400 clients.
TEST_CASE("An estimate of a full KV cache is as slow as its replay, which finds little again",
          "[laws]") {
  for (const bool keeps : {true, false}) {
    for (const int clients : {256, 400}) {
      CAPTURE(keeps, clients);
      const auto [e, replayed] = at(clients, keeps);
      REQUIRE(replayed.done());
      CHECK(e.steady.tpot / replayed.estimate.steady.tpot == Approx(1.0).margin(0.10));
      CHECK(e.output_rate / replayed.estimate.output_rate == Approx(1.0).margin(0.10));
    }
  }
}

}  // namespace roofcast::sim::laws_replay_full_cache
