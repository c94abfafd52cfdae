// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/estimate.hpp"
#include "sim/replay/simulate.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::sim::laws_replay_saturation {
namespace {

struct Case {
  const char* parts;
  const char* lengths;
};
constexpr Case kCases[] = {
    {"system: {base: hgx_h100, chip.hbm.capacity: x%}\nmodel: qwen3-30b-a3b\nprecision: fp8\n"
     "serving: {stack: trtllm}\ndeployment: {tensor_parallel: 1}\n",
     "input_tokens: {uniform: [5966, 8949]}, output_tokens: {lognormal: {mean: 16, cv: 0.3, max: "
     "96}}"},
    {"system: {base: hgx_h100, chip.hbm.capacity: x%}\nmodel: llama-3.1-8b\nprecision: fp8\n"
     "serving: {stack: trtllm}\ndeployment: {tensor_parallel: 4}\n",
     "input_tokens: {lognormal: {mean: 6043, cv: 0.3, max: 16000}}, output_tokens: {lognormal: "
     "{mean: 333, cv: 0.6, max: 1998}}"},
    {"system: {base: hgx_h200, chip.hbm.capacity: x%}\nmodel: llama-3.1-8b\nprecision: bf16\n"
     "serving: {stack: vllm}\ndeployment: {tensor_parallel: 1}\n",
     "input_tokens: {uniform: [3301, 4952]}, output_tokens: {uniform: [4, 88]}"},
    {"system: {base: hgx_h200, chip.hbm.capacity: x%}\nmodel: llama-3.1-8b\nprecision: fp8\n"
     "serving: {stack: sglang}\ndeployment: {tensor_parallel: 1}\n",
     "input_tokens: {lognormal: {mean: 864, cv: 1.3, max: 5184}}, output_tokens: {uniform: [20, "
     "140]}"},
};

StreamedScenario scenario(const Case& of, double capacity, double rate) {
  std::string parts = of.parts;
  parts.replace(parts.find('%'), 1, fmt::format("{}", capacity));
  return read_streamed_scenario(base::parse_document(
      "test",
      fmt::format(
          "{}traffic: {{{}, arrivals: {{process: poisson, rate: {} /s}}, requests: 6000}}\n", parts,
          of.lengths, rate)));
}

double saturation(const Case& of, double capacity) {
  Workspace workspace;
  const StreamedScenario s = scenario(of, capacity, 0.01);
  return estimate(view(s.scenario), workspace).steady.saturation;
}

// Answers per second while the queue is never empty: of the middle half.
double served(const Case& of, double rate) {
  const StreamedScenario s = scenario(of, 1.0, rate);
  std::vector<double> ends;
  for (const ServedRequest& r :
       simulate(view(s.scenario), workloads::draw_requests(s.stream), 0).requests) {
    ends.push_back(r.last_token.si());
  }
  std::sort(ends.begin(), ends.end());
  const std::size_t n = ends.size();
  return static_cast<double>(n / 2) / (ends[n / 4 + n / 2] - ends[n / 4]);
}

}  // namespace

TEST_CASE("A server saturates at what it serves while its queue is never empty", "[laws]") {
  for (const Case& of : kCases) {
    INFO(of.parts << of.lengths);
    const double most = saturation(of, 1.0);
    CHECK(most == Approx(served(of, 1.5 * most)).epsilon(0.02));
  }
}

TEST_CASE("With more memory a server saturates no earlier", "[laws]") {
  for (const Case& of : kCases) {
    INFO(of.parts << of.lengths);
    double before = 0.0;
    for (const double capacity : {0.9, 1.0, 1.2, 1.5, 2.0, 3.0}) {
      const double most = saturation(of, capacity);
      CHECK(most > 0.98 * before);
      before = std::max(before, most);
    }
  }
}

}  // namespace roofcast::sim::laws_replay_saturation
