// SPDX-License-Identifier: Apache-2.0
//
// How long an open loop is replayed, and what a replay says that is not in a steady state (sim/confirm).
#include <string>

#include "base/document/node.hpp"
#include "sim/confirm/verdict.hpp"
#include "sim/estimate.hpp"
#include "sim/replay/simulation_summary.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"
#include "tests/laws/cases/simulations.hpp"

namespace roofcast::sim::laws_replay_open_replay {
namespace {

// A request is in progress for so long that 4,000 of them arrive before the server is full.
constexpr const char* kLongAnswers = R"(
system: hgx_h100
model: llama-3.1-8b
precision: fp8
deployment: {tensor_parallel: 1}
serving: {stack: vllm, replicas: 8}
traffic:
  input_tokens: {lognormal: {mean: 300, cv: 1, max: 3000}}
  output_tokens: {lognormal: {mean: 1000, cv: 1.2, max: 9000}}
  arrivals: {process: poisson, rate: 80 /s}
  requests: 40000
)";

struct Question {
  explicit Question(const std::string& text)
      : scenario(read_streamed_scenario(base::parse_document("test", text))),
        closed_form(estimate(view(scenario.scenario), space.workspace)) {
    REQUIRE(closed_form.fits());
  }
  Replayed replayed(const ReplayPlan& plan, double faster = 1.0) {
    workloads::RequestStream stream = scenario.stream;
    stream.arrivals->rate = faster * stream.arrivals->rate;
    return replay(view(scenario.scenario), stream, closed_form, plan, space);
  }
  StreamedScenario scenario;
  ReplaySpace space;
  ServingEstimate closed_form;
};

}  // namespace

TEST_CASE("An open loop is replayed for ten times what is in progress, or not at all", "[laws]") {
  Question q(kLongAnswers);
  const SteadyState& r = q.closed_form.steady;
  const double in_progress = r.requests_per_second * r.end_to_end.si();
  REQUIRE(4000.0 < 10.0 * in_progress);
  for (const double tokens : {4e6, 1e7, 2e7, 6e7}) {
    ReplayPlan plan;
    plan.most_tokens = tokens;
    const Replayed replayed = q.replayed(plan);
    INFO(tokens << ", " << replayed.requests << " of " << in_progress << " in progress");
    CHECK(replayed.done() == (tokens >= 2e7));
    if (replayed.done()) {
      CHECK(static_cast<double>(replayed.requests) > 10.0 * in_progress);
    } else {
      CHECK(replayed.why_not == "too long to replay");
    }
  }
}

TEST_CASE("The replay of long answers has the times of a long simulation without its start",
          "[laws]") {
  Question q(kLongAnswers);
  const Replayed replayed = q.replayed({});
  REQUIRE(replayed.done());
  const SimulationSummary late = summarise(laws::run(q.scenario), 15000, {});
  CHECK(replayed.estimate.steady.tpot / late.tpot.mean == Approx(1.0).margin(0.05));
  CHECK(replayed.estimate.steady.tpot_tail.p95 / late.tpot.p95 == Approx(1.0).margin(0.05));
}

TEST_CASE("A replay that falls behind its arrivals confirms nothing", "[laws]") {
  Question q(
      "system: hgx_h100\nmodel: llama-3.1-8b\nprecision: fp8\ndeployment: {tensor_parallel: 1}\n"
      "serving: {stack: vllm}\ntraffic: {input_tokens: 2000, output_tokens: 100, "
      "arrivals: {process: poisson, rate: 10 /s}}\n");
  base::Problems problems;
  const std::vector<Condition> always = {*parse_condition("ttft_mean_s >= 0", {}, problems)};
  const Replayed steady = q.replayed({});
  CHECK(steady.is_steady());
  CHECK(judge(always, steady).verdict == Verdict::confirmed);
  CHECK(holds_by(always, steady, 0.0));
  const double load = 10.0 / q.closed_form.steady.saturation;
  const Replayed behind = q.replayed({}, 1.2 / load);
  REQUIRE(behind.done());
  CHECK_FALSE(behind.is_steady());
  CHECK(judge(always, behind).verdict == Verdict::estimated);
  CHECK(judge(always, behind).note.starts_with("not a steady state"));
  CHECK_FALSE(holds_by(always, behind, 0.0));
  CHECK(disagreements(q.closed_form, behind).empty());
}

TEST_CASE("A replay draws the power of its own batch, not that of the closed form", "[laws]") {
  Question q(kLongAnswers);
  const base::Watts power = q.closed_form.steady.power;
  q.closed_form.steady.power = 0.5 * power;
  const Replayed replayed = q.replayed({});
  REQUIRE(replayed.done());
  CHECK(replayed.estimate.steady.power / power == Approx(1.0).margin(0.05));
}

}  // namespace roofcast::sim::laws_replay_open_replay
