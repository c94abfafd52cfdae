// SPDX-License-Identifier: Apache-2.0
//
// What is recommended holds in the simulator: sim/confirm.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "base/document/node.hpp"
#include "base/threads.hpp"
#include "sim/confirm/replayed_answer.hpp"
#include "sim/confirm/replayed_rows.hpp"
#include "sim/decide/sweep_run.hpp"
#include "sim/estimate.hpp"
#include "sim/replay/simulation_summary.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"
#include "tests/laws/cases/simulations.hpp"

namespace roofcast::sim::laws_replay_replay {
namespace {

// GB200 with one GPU and 512 clients: answers are reserved whole, and equal clients stay in step.
constexpr const char* kPrices = R"(
base:
  system: gb200_nvl72
  model: llama-3.1-70b
  precision: fp8
  deployment: {tensor_parallel: 1}
  serving: {stack: trtllm}
  traffic: {input_tokens: 1024, output_tokens: 512, concurrency: 64, objectives: {ttft: 500 ms}}
axes:
  traffic.concurrency: [1, 16, 64, 128, 256, 512]
where: [fits, 'ttft_p95_s <= 0.5']
pareto: {minimize: [cost_usd_per_mtok, ttft_p95_s]}
)";

constexpr const char* kDrawn = R"(
system: hgx_h100
model: llama-3.1-8b
precision: fp8
deployment: {tensor_parallel: 1}
serving: {stack: vllm}
traffic:
  input_tokens: {lognormal: {mean: 800, cv: 1, max: 8000}}
  output_tokens: {lognormal: {mean: 60, cv: 0.8, max: 400}}
  arrivals: {process: poisson, rate: 4 /s}
)";

struct Swept {
  explicit Swept(unsigned threads)
      : points(read_sweep(base::parse_document("sweep.yaml", kPrices))),
        table(run_sweep(points, threads)) {
    rows = replay_recommended(points, table, {threads, true, nullptr, nullptr});
  }
  std::string text() const {
    std::string all;
    for (std::size_t row = 0; row < table.rows(); ++row) {
      for (const ResultColumn& column : table.columns()) {
        all += column.cell(row) + ",";
      }
      all += "\n";
    }
    return all;
  }
  SweepPoints points;
  ResultTable table;
  ReplayedRows rows;
};

Replayed replayed(const base::Node& document, const ReplayPlan& plan) {
  const StreamedScenario s = read_streamed_scenario(document);
  ReplaySpace space;
  return replay(view(s.scenario), s.stream, estimate(view(s.scenario), space.workspace), plan,
                space);
}

Condition condition(const std::string& text) {
  base::Problems problems;
  const auto parsed = parse_condition(text, {}, problems);
  REQUIRE(parsed);
  return *parsed;
}

}  // namespace

TEST_CASE("A sweep does not recommend a row that the simulator contradicts", "[laws]") {
  const Swept swept(2);
  const ResultTable& table = swept.table;
  std::size_t recommended = 0;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const bool confirmed = table.column("replay").says(row, "confirmed");
    CHECK((!table.is_on_front(row) || confirmed));
    if (confirmed) {
      ++recommended;
      ReplayPlan plan;
      plan.seed = 7;
      const Replayed again = replayed(swept.points.document(row), plan);
      REQUIRE(again.done());
      CHECK(holds(swept.points.sweep().where.back(), again.estimate));
      CHECK(table.column("replayed_ttft_p95_s").number(row) <= 0.5);
    }
    if (table.column("replay").says(row, "broken")) {
      CHECK(!table.meets(row));
      CHECK(table.column("reason").text(row).find("ttft_p95_s <= 0.5 is ") != std::string::npos);
    }
  }
  CHECK(recommended > 0);
  CHECK(!table.meets(table.rows() - 1));  // 512 clients: 26 s
}

TEST_CASE("What is replayed is the same on any number of threads", "[laws]") {
  CHECK(Swept(1).text() == Swept(3).text());
}

TEST_CASE("Without replays every recommended row is estimated only", "[laws]") {
  const SweepPoints points(read_sweep(base::parse_document("sweep.yaml", kPrices)));
  ResultTable table = run_sweep(points, 1);
  const ResultTable before = run_sweep(points, 1);
  const ReplayedRows rows = replay_recommended(points, table, {1, false, nullptr, nullptr});
  CHECK(rows.confirmed + rows.broken == 0);
  CHECK(rows.estimated > 0);
  for (std::size_t row = 0; row < table.rows(); ++row) {
    CHECK(table.is_on_front(row) == before.is_on_front(row));
    CHECK((!table.is_on_front(row) || table.column("replay").says(row, "estimated only")));
  }
}

TEST_CASE("A sweep that is simulated has the simulated values in its metrics", "[laws]") {
  const SweepPoints points(read_sweep(base::parse_document("sweep.yaml", kPrices)));
  ResultTable table = run_sweep(points, 1);
  replay_all(points, table, {2, true, nullptr, nullptr});
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const double simulated = table.column("replayed_ttft_p95_s").number(row);
    CHECK(table.column("ttft_p95_s").number(row) == simulated);
    CHECK(table.meets(row) == (simulated <= 0.5));
    CHECK(table.column("replay").says(row, table.meets(row) ? "confirmed" : "broken"));
  }
}

TEST_CASE("A replay keeps Little's law: requests in the server are rate times time", "[laws]") {
  const Swept swept(1);
  for (const std::size_t row : {std::size_t{1}, std::size_t{2}}) {
    ReplayPlan plan;
    const Replayed r = replayed(swept.points.document(row), plan);
    REQUIRE(r.done());
    const double clients =
        r.estimate.steady.requests_per_second * r.estimate.steady.end_to_end.si();
    CHECK(clients == Approx(row == 1 ? 16.0 : 64.0).epsilon(1e-9));
    CHECK(r.estimate.steady.decode_batch < clients);
    CHECK(r.estimate.memory > r.estimate.footprint.fixed());
  }
}

TEST_CASE("Equal clients of two pools are replayed beyond the burst of their start", "[laws]") {
  const base::Node document = base::parse_document(
      "test",
      "system: gb200_nvl72\nmodel: qwen3-235b-a22b\nprecision: fp8\n"
      "deployment: {prefill: {replicas: 4, tensor_parallel: 1, expert_parallel: 2, data_parallel: "
      "2}, decode: {replicas: 1, tensor_parallel: 1, expert_parallel: 8, data_parallel: 8}}\n"
      "serving: {stack: vllm}\n"
      "traffic: {input_tokens: 4000, output_tokens: 1000, concurrency: 736, requests: 30000}\n");
  ReplayPlan plan;
  plan.targets = {find_metric("ttft_p95_s")};
  const Replayed r = replayed(document, plan);
  REQUIRE(r.done());
  const SimulationSummary late = summarise(laws::run(read_streamed_scenario(document)), 20000, {});
  CHECK(r.estimate.steady.ttft_tail.p95 / late.ttft.p95 == Approx(1.0).margin(0.1));
}

TEST_CASE(
    "Below saturation a replay has the rate, the cost and the energy of its arrivals, with any "
    "seed",
    "[laws]") {
  const base::Node document = base::parse_document("drawn.yaml", kDrawn);
  ReplayPlan plan;
  plan.once = true;
  plan.targets = {find_metric("cost_usd_per_mtok"), find_metric("throughput_tok_per_s")};
  for (plan.seed = 0; plan.seed < 3; ++plan.seed) {
    const Replayed r = replayed(document, plan);
    REQUIRE(r.done());
    CHECK(r.estimate.steady.requests_per_second == Approx(4.0));
    CHECK(r.estimate.usd_per_mtok == Approx(r.closed_form.usd_per_mtok));
    CHECK(r.estimate.joules_per_token == Approx(r.closed_form.joules_per_token).epsilon(0.01));
    CHECK(r.error(*plan.targets.front()) < 1e-9);
  }
}

TEST_CASE("More requests are replayed until the standard error of what is asked is small",
          "[laws]") {
  base::Node document = base::parse_document("drawn.yaml", kDrawn);
  ReplayPlan loose;
  loose.targets = {find_metric("ttft_p99_s")};
  loose.once = true;
  ReplayPlan tight = loose;
  tight.once = false;
  tight.error = 0.02;
  const Replayed a = replayed(document, loose);
  const Replayed b = replayed(document, tight);
  CHECK(b.requests > a.requests);
  CHECK(b.error(*loose.targets.front()) <= 0.02 * loose.targets.front()->value(b.estimate));
}

TEST_CASE("The answer of one knob, simulated with other seeds, meets the condition in 95 of 100",
          "[laws][long]") {
  const std::vector<Condition> conditions = {condition("ttft_p95_s <= 0.15")};
  const base::Node document = base::parse_document("drawn.yaml", kDrawn);
  KnobRange range;
  range.path = "traffic.arrivals.rate";
  range.low = 1.0;
  range.high = 200.0;
  range.after = " /s";
  const auto at = [&](const std::string& value) {
    base::Node set = document;
    set["traffic"]["arrivals"]["rate"].text = value;
    return set;
  };
  ReplayPlan plan;
  plan.targets = simulated_metrics(conditions);
  const ReplayAt replay_at = [&](const std::vector<std::string>& values, std::int64_t seed) {
    ReplayPlan with_seed = plan;
    with_seed.seed = seed;
    return replayed(at(values.front()), with_seed);
  };
  const Boundary closed_form = boundary_of(range, conditions, [&](const std::string& value) {
    Workspace workspace;
    const Scenario s = read_scenario(at(value));
    return estimate(view(s), workspace);
  });
  const ReplayedBoundary answer = replayed_boundary(range, conditions, closed_form, replay_at);
  REQUIRE(answer.boundary.found);
  std::atomic<int> met{0};
  std::atomic<int> next{0};
  base::on_threads(base::thread_count(0), [&](unsigned) {
    for (int seed = next++; seed < 100; seed = next++) {
      met += holds(conditions.front(), replay_at({answer.boundary.value}, 100 + seed).estimate);
    }
  });
  INFO(answer.boundary.value);
  CHECK(met >= 95);
  // And it is no more careful than that: a quarter more misses.
  const std::string more = range.text(1.25 * answer.boundary.number);
  CHECK(!holds_by(conditions, replay_at({more}, 0), 2.0));
}

TEST_CASE("A choice that the simulator contradicts is passed over for the next", "[laws]") {
  const std::vector<Condition> conditions = {condition("ttft_p95_s <= 0.5")};
  const base::Node sweep = base::parse_document("sweep.yaml", kPrices);
  const base::Node& document = *sweep.find("base");
  KnobRange range;
  range.path = "traffic.concurrency";
  range.listed = {"1", "16", "64", "128", "256", "512"};
  range.origin = "--vary";
  ChoiceSearch search({range}, {find_metric("cost_usd_per_mtok"), Direction::minimize},
                      estimates_by_sweep(document, {range}));
  const ReplayedChoice r = replayed_choice(
      search, conditions, [&](const std::vector<std::string>& values, std::int64_t seed) {
        base::Node set = document;
        set["traffic"]["concurrency"].text = values.front();
        ReplayPlan plan;
        plan.seed = seed;
        return replayed(set, plan);
      });
  REQUIRE(r.choice.found);
  CHECK(holds(conditions.front(), r.replayed.estimate));
  for (const ReplayedChoice::Broken& broken : r.broken) {
    CHECK(broken.values != r.choice.values);
    CHECK(broken.note.find("ttft_p95_s <= 0.5 is ") == 0);
  }
}

}  // namespace roofcast::sim::laws_replay_replay
