// SPDX-License-Identifier: Apache-2.0
//
// Where requests arrive by themselves, arrivals set the rate: sim/result/spreads.hpp.
#include <fmt/format.h>

#include "sim/estimate.hpp"
#include "sim/result/metrics.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::laws_replay_open_loop {

namespace {

sim::ServingEstimate at(double rate) {
  const sim::Scenario s = sim::read_scenario(base::parse_document(
      "scenario.yaml",
      fmt::format("system: hgx_h200\nmodel: llama-3.1-8b\nprecision: fp8\ndeployment: "
                  "{{tensor_parallel: 1}}\nserving: {{stack: vllm}}\ntraffic: {{input_tokens: "
                  "1024, output_tokens: 256, arrivals: {{process: poisson, rate: {} /s}}}}\n",
                  rate)));
  sim::Workspace workspace;
  return sim::estimate(sim::view(s), workspace);
}

sim::Interval90 interval(const char* metric, const sim::ServingEstimate& e) {
  return sim::interval90(*sim::find_metric(metric), e);
}

}  // namespace

TEST_CASE("No server of arrivals serves more than arrives, and one far from saturation no less",
          "[laws]") {
  const double saturation = at(1.0).steady.saturation;
  for (const double share : {0.1, 0.3, 0.95}) {
    const sim::ServingEstimate e = at(share * saturation);
    INFO(share << " of saturation");
    REQUIRE(e.fits());
    for (const char* name :
         {"requests_per_s", "throughput_tok_per_s", "throughput_tok_per_s_per_gpu"}) {
      if (const sim::Interval90 rate = interval(name, e); rate.high > 0.0) {
        const double value = sim::find_metric(name)->value(e);
        CHECK(rate.high == Approx(value).epsilon(1e-3));
        CHECK((share < 0.5 ? rate.low == Approx(value).epsilon(1e-3) : rate.low < 0.99 * value));
      }
    }
    const sim::Interval90 cost = interval("cost_usd_per_mtok", e);
    CHECK(cost.low == Approx(e.usd_per_mtok).epsilon(1e-3));
    CHECK((share < 0.5 ? cost.high == Approx(e.usd_per_mtok).epsilon(1e-3)
                       : cost.high > 1.01 * e.usd_per_mtok));
  }
}

}  // namespace roofcast::laws_replay_open_loop
