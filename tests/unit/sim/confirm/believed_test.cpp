// SPDX-License-Identifier: Apache-2.0
#include "sim/confirm/believed.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sim/confirm/verdict.hpp"
#include "sim/estimate.hpp"
#include "sim/roadmap/roadmap_result.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::sim::unit_sim_confirm_believed {
namespace {

ServingEstimate estimated(int clients) {
  const Scenario s = read_scenario(base::parse_document(
      "test", fmt::format("system: hgx_h200\nmodel: llama-3.1-8b\nprecision: fp8\n"
                          "deployment: {{tensor_parallel: 1}}\nserving: {{stack: vllm}}\n"
                          "traffic: {{input_tokens: 1000, output_tokens: {{uniform: [50, 150]}}, "
                          "concurrency: {}}}\n",
                          clients)));
  Workspace workspace;
  return estimate(view(s), workspace);
}

// A replay whose TTFT is so many times the estimate, and nothing else.
Replayed with_ttft(const ServingEstimate& e, double ratio) {
  Replayed r;
  r.closed_form = r.estimate = e;
  r.estimate.steady.ttft_mean = ratio * e.steady.ttft_mean;
  return r;
}

Outcome outcome(int clients, double replayed) {
  const Scenario s = read_scenario(base::parse_document(
      "test", fmt::format("system: hgx_h200\nmodel: llama-3.1-8b\nprecision: fp8\n"
                          "deployment: {{tensor_parallel: 1}}\nserving: {{stack: vllm}}\n"
                          "traffic: {{input_tokens: 1000, output_tokens: 100, concurrency: {}}}\n",
                          clients)));
  Workspace workspace;
  Outcome o = outcome_of(view(s), estimate(view(s), workspace), workspace);
  o.replayed = replayed;
  return o;
}

}  // namespace

TEST_CASE("The interval that is shown holds the replayed value, and is as wide as the estimate's",
          "[unit]") {
  const ServingEstimate e = estimated(32);
  const Metric& ttft = *find_metric("ttft_mean_s");
  const Interval90 own = interval90(ttft, e);
  for (const double ratio : {0.2, 0.9, 1.0, 1.1, 5.0}) {
    CAPTURE(ratio);
    const Replayed r = with_ttft(e, ratio);
    const Interval90 shown = believed_interval(ttft, e, r, false);
    CHECK(holds(shown, ttft.value(r.estimate)));
    CHECK(shown.high / shown.low == Approx(own.high / own.low));
    if (holds(own, ttft.value(r.estimate))) {
      CHECK(shown.low == own.low);
    }
    CHECK(believed_interval(ttft, e, r, true).low == Approx(ratio * own.low));
  }
  Replayed none = with_ttft(e, 5.0);
  none.why_not = "--no-replay";
  CHECK(believed_interval(ttft, e, none, true).low == own.low);
}

TEST_CASE("A row is confirmed only where the replay of its objective lies in its interval",
          "[unit]") {
  const ServingEstimate e = estimated(32);
  const std::vector<const Metric*> objectives = {find_metric("ttft_mean_s")};
  const auto verdict = [&](double ratio) {
    const Replayed r = with_ttft(e, ratio);
    Judgement judgement = judge({}, r);
    compare(objectives, r, judgement);
    return judgement;
  };
  CHECK(verdict(1.0).verdict == Verdict::confirmed);
  CHECK(verdict(5.0).verdict == Verdict::differs);
  CHECK(verdict(5.0).note.find("ttft_mean_s is ") == 0);
}

// The errors of servers grow with the gain (sim/roadmap/roadmap_result.cpp).
TEST_CASE("A ratio is as certain as that of the replays, where both were replayed", "[unit]") {
  const Metric& rate = *find_metric("throughput_tok_per_s_per_gpu");
  const Gain estimated = gain_of(rate, outcome(64, NAN), outcome(16, NAN));
  CHECK(replayed_gain_of(rate, outcome(64, NAN), outcome(16, 100.0)).value == estimated.value);
  const Gain replayed = replayed_gain_of(rate, outcome(64, 103.0), outcome(16, 100.0));
  CHECK(replayed.value == Approx(1.03));
  CHECK(replayed.interval.low < 1.03);
  CHECK(replayed.interval.high < estimated.interval.low);
}

}  // namespace roofcast::sim::unit_sim_confirm_believed
