// SPDX-License-Identifier: Apache-2.0
#include "sim/result/alignment.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/estimate.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_sim_alignment {

namespace {

std::vector<sim::Misalignment> found(const std::string& changes) {
  const sim::Scenario scenario = sim::read_scenario(base::parse_document(
      "test", fmt::format("system: hgx_h200\n"
                          "model: {{base: llama-3.1-8b{}}}\n"
                          "precision: bf16\n"
                          "deployment: {{tensor_parallel: 1}}\n"
                          "serving: {{stack: vllm}}\n"
                          "traffic: {{input_tokens: 4096, output_tokens: 200, concurrency: 8}}\n",
                          changes)));
  sim::Workspace workspace;
  const sim::ScenarioView view = sim::view(scenario);
  return sim::misalignments(view, sim::estimate(view, workspace));
}

}  // namespace

TEST_CASE("A model of whole tiles has nothing to warn of", "[unit]") { CHECK(found("").empty()); }

TEST_CASE("A feed-forward that ends within a tile is told with its aligned neighbours", "[unit]") {
  const auto all = found(", mlp.intermediate: 1030");
  const auto up = std::find_if(all.begin(), all.end(), [](const sim::Misalignment& m) {
    return m.call == "mlp.up" && !m.depth;
  });
  REQUIRE(up != all.end());
  CHECK(up->width == 2060);  // gate and up
  CHECK(up->below.width == 2048);
  CHECK(up->above.width == 2176);
  CHECK(up->below.gain >= sim::kLeastGain);
  const auto down = std::find_if(all.begin(), all.end(), [](const sim::Misalignment& m) {
    return m.call == "mlp.down" && m.depth;
  });
  REQUIRE(down != all.end());
  CHECK(down->width == 1030);
  CHECK(down->below.width == 1024);
}

}  // namespace roofcast::unit_sim_alignment
