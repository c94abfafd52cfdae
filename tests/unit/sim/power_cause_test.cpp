// SPDX-License-Identifier: Apache-2.0
//
// Host time that has a share.
#include <fmt/format.h>

#include <algorithm>

#include "sim/estimate.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/result/causes.hpp"
#include "sim/result/metrics.hpp"
#include "sim/result/training_step.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::sim::unit_sim_power_cause {
namespace {

Scenario scenario(const std::string& text) {
  return read_scenario(base::parse_document("test", text));
}

Scenario eager(const std::string& stack) {
  return scenario(
      fmt::format("system: hgx_h100\nmodel: llama-3.1-8b\nprecision: bf16\ndeployment: {{}}\n"
                  "serving: {{stack: {}, cuda_graphs: {{decode: none}}}}\n"
                  "traffic: {{input_tokens: 256, output_tokens: 256, concurrency: 1}}\n",
                  stack));
}

double sum_of(const std::vector<models::Share>& shares) {
  double sum = 0.0;
  for (const models::Share& share : shares) {
    sum += share.share;
  }
  return sum;
}

double share_of(const std::vector<models::Share>& shares, models::Cause cause) {
  const auto found =
      std::find_if(shares.begin(), shares.end(), [&](const auto& s) { return s.cause == cause; });
  return found != shares.end() ? found->share : 0.0;
}

ServingEstimate told(const Scenario& s) {
  Workspace workspace;
  ServingEstimate e = estimate(view(s), workspace);
  REQUIRE(e.fits());
  tell_causes(view(s), e);
  return e;
}

}  // namespace

TEST_CASE("A time that the host limits has the share of the host", "[unit]") {
  for (const char* stack : {"vllm", "sglang"}) {
    INFO(stack);
    const ServingEstimate e = told(eager(stack));
    for (const char* metric : {"ttft", "tpot", "throughput"}) {
      INFO(metric);
      const Limited l = limited(e, metric);
      CHECK(l.by == "host");
      CHECK(l.share > 0.3);
      CHECK(l.share == share_of(l.shares, models::Cause::host));
      CHECK(sum_of(l.shares) == Approx(1.0));
      const Metric* share = find_metric(fmt::format("limited_share_{}", metric));
      CHECK(share->value(e) == l.share);
    }
  }
}

}  // namespace roofcast::sim::unit_sim_power_cause
