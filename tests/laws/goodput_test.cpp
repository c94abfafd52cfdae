// SPDX-License-Identifier: Apache-2.0
//
// Objectives by class, attainment, goodput and the probability of a breach.
#include <cmath>
#include <string>

#include "sim/class_attainment.hpp"
#include "sim/confirm/replayed_estimate.hpp"
#include "sim/decide/sweep_run.hpp"
#include "sim/replay/breach.hpp"
#include "sim/replay/simulation_summary.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::sim::laws_goodput {
namespace {

StreamedScenario scenario(const std::string& traffic) {
  return read_streamed_scenario(base::parse_document(
      "test",
      "system: hgx_h200\nmodel: llama-3.1-8b\nprecision: fp8\ndeployment: {tensor_parallel: 1}\n"
      "serving: {stack: vllm}\ntraffic: {input_tokens: {lognormal: {mean: 1000, cv: 1, max: "
      "8000}}, output_tokens: {uniform: [1, 300]}, " +
          traffic + "}\n"));
}

const std::string kLoaded = "arrivals: {process: poisson, rate: 20 /s}, requests: 600";

Simulation run(const StreamedScenario& s) {
  return simulate(view(s.scenario), workloads::draw_requests(s.stream), s.stream.concurrency);
}

workloads::RequestClasses promised(const workloads::Objectives& objectives) {
  return {{.objectives = objectives}};
}

double attainment(const Simulation& simulation, const workloads::Objectives& objectives) {
  return summarise(simulation, 0, promised(objectives)).attainment;
}

base::Seconds ms(double count) { return count * base::millisecond; }

}  // namespace

TEST_CASE("A looser objective never lowers attainment, and keeps more than none and less than all",
          "[laws]") {
  const Simulation simulation = run(scenario(kLoaded));
  double before = 0.0;
  for (double limit = 1.0; limit < 1e5; limit *= 1.3) {
    const double now = attainment(simulation, {.ttft = ms(limit)});
    CHECK(now >= before);
    CHECK(attainment(simulation, {.tpot = ms(limit)}) <=
          attainment(simulation, {.tpot = ms(1.3 * limit)}));
    CHECK(attainment(simulation, {.end_to_end = ms(limit)}) <=
          attainment(simulation, {.end_to_end = ms(1.3 * limit)}));
    before = now;
  }
  CHECK(before == 1.0);
  CHECK(attainment(simulation, {.ttft = ms(1.0)}) == 0.0);
}

TEST_CASE("Attainment of several objectives is at most that of each, and at least what is left",
          "[laws]") {
  const Simulation simulation = run(scenario(kLoaded));
  const SimulationSummary s = summarise(simulation, 0, {});
  const double ttft = attainment(simulation, {.ttft = s.ttft.p50});
  const double tpot = attainment(simulation, {.tpot = s.tpot.p50});
  const double end = attainment(simulation, {.end_to_end = s.end_to_end.p90});
  const double all = attainment(
      simulation, {.ttft = s.ttft.p50, .tpot = s.tpot.p50, .end_to_end = s.end_to_end.p90});
  CHECK(ttft == Approx(0.5).margin(0.01));
  CHECK(all <= ttft);
  CHECK(all <= tpot);
  CHECK(all <= end);
  CHECK(all < 0.5);
  CHECK(all >= ttft + tpot + end - 2.0);
}

TEST_CASE("Goodput of the classes adds up to that of all, and each keeps its own objectives",
          "[laws]") {
  const StreamedScenario s = scenario(
      kLoaded +
      ", objectives: {ttft: 50 ms}, classes: [{name: chat, priority: 1, weight: 3}, {name: batch, "
      "priority: 0, weight: 1, objectives: {end_to_end: 60 s}}]");
  REQUIRE(s.stream.classes.size() == 2);
  CHECK(s.stream.classes[0].share == 0.75);
  CHECK(s.stream.classes[0].objectives.ttft == ms(50.0));
  CHECK(!s.stream.classes[1].objectives.ttft);
  REQUIRE(s.scenario.traffic.classes.size() == 2);  // as an estimate sees them
  const Simulation simulation = run(s);
  const SimulationSummary all = summarise(simulation, 0, s.stream.classes);
  const auto classes = summarise_classes(simulation, 0, s.stream.classes);
  REQUIRE(classes.size() == 2);
  CHECK(classes[0].name == "chat");
  CHECK(classes[0].summary.goodput + classes[1].summary.goodput == Approx(all.goodput));
  CHECK(classes[0].summary.requests_per_second + classes[1].summary.requests_per_second ==
        Approx(all.requests_per_second));
  const double chat = static_cast<double>(classes[0].summary.requests) / 600.0;
  CHECK(chat == Approx(0.75).margin(0.06));
  CHECK(all.attainment == Approx(chat * classes[0].summary.attainment +
                                 (1.0 - chat) * classes[1].summary.attainment));
  CHECK(classes[1].summary.attainment == 1.0);  // a minute is ample
  CHECK(classes[0].summary.attainment < 1.0);
}

namespace {

const std::string kClasses =
    "objectives: {ttft: 80 ms}, classes: [{name: chat, priority: 1, weight: 3}, {name: batch, "
    "priority: 0, weight: 1, objectives: {tpot: 8 ms}}]";

}  // namespace

TEST_CASE("Estimated attainment by class adds up to that of all, and is near the simulated one",
          "[laws]") {
  const StreamedScenario s =
      scenario("arrivals: {process: poisson, rate: 12 /s}, requests: 8000, " + kClasses);
  Workspace workspace;
  const ServingEstimate e = estimate(view(s.scenario), workspace);
  const std::vector<double> shares = class_attainment(view(s.scenario), workspace);
  REQUIRE(shares.size() == 2);
  CHECK(class_gap(view(s.scenario)).empty());
  CHECK(e.steady.attainment == Approx(0.75 * shares[0] + 0.25 * shares[1]));
  const auto classes = summarise_classes(run(s), 800, s.stream.classes);
  REQUIRE(classes.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    INFO(classes[i].name);
    CHECK(shares[i] > 0.0);
    CHECK(shares[i] < 1.0);
    CHECK(shares[i] == Approx(classes[i].summary.attainment).margin(0.05));
  }
  ReplaySpace space;
  const Replayed replayed = replay(view(s.scenario), s.stream, e, {}, space);
  REQUIRE(replayed.class_attainment.size() == 2);
  CHECK(replayed.class_attainment[0] == Approx(classes[0].summary.attainment).margin(0.05));
}

TEST_CASE("A sweep has attainment and goodput of each class, or says why not", "[laws]") {
  const SweepPoints points(read_sweep(base::parse_document(
      "sweep",
      "base: {system: hgx_h200, model: llama-3.1-8b, precision: fp8, deployment: "
      "{tensor_parallel: 1}, serving: {stack: vllm}, traffic: {input_tokens: 1000, output_tokens: "
      "{uniform: [1, 300]}, arrivals: {process: poisson, rate: 12 /s}, " +
          kClasses + "}}\naxes: {serving.scheduler.queue: [arrival, priority]}\n")));
  const ResultTable table = run_sweep(points, 1);
  const auto cell = [&](const char* column, std::size_t row) {
    return table.column(column).number(row);
  };
  CHECK(table.column("reason").text(0).empty());
  CHECK(cell("goodput_chat", 0) + cell("goodput_batch", 0) == Approx(cell("goodput", 0)));
  CHECK(cell("goodput_chat", 0) ==
        Approx(0.75 * cell("attainment_chat", 0) * cell("requests_per_s", 0)));
  CHECK(table.column("reason").text(1).empty());
  CHECK(cell("attainment_chat", 1) == Approx(cell("attainment_chat", 0)).margin(0.01));
  CHECK(table.meets(1));
}

TEST_CASE("Without classes goodput is attainment times the request rate", "[laws]") {
  const StreamedScenario s = scenario(kLoaded + ", objectives: {ttft: 60 ms, tpot: 12 ms}");
  const SimulationSummary all = summarise(run(s), 0, s.stream.classes);
  CHECK(all.attainment > 0.0);
  CHECK(all.attainment < 1.0);
  CHECK(all.goodput == Approx(all.attainment * all.requests_per_second));
}

TEST_CASE("Priorities alone are classes that are named after them", "[laws]") {
  const workloads::Requests old = workloads::draw_requests(
      scenario(kLoaded + ", priorities: {values: [0, 5], weights: [4, 1]}").stream);
  const StreamedScenario now =
      scenario(kLoaded +
               ", classes: [{name: a, priority: 0, weight: 4}, {name: b, priority: 5, weight: 1}]");
  const workloads::Requests drawn = workloads::draw_requests(now.stream);
  for (std::size_t i = 0; i < old.requests.size(); ++i) {
    REQUIRE(old.requests[i].priority == drawn.requests[i].priority);
  }
  CHECK(!any_objective(now.stream.classes));
}

TEST_CASE("A priority that no class has is an error, but of a single class all requests are",
          "[laws]") {
  const workloads::RequestClasses one = promised({.ttft = ms(1.0)});
  CHECK(class_of(one, 7) == 0);
  const workloads::RequestClasses two = {{.name = "a", .priority = 1},
                                         {.name = "b", .priority = 2}};
  CHECK(class_of(two, 2) == 1);
  CHECK_THROWS_WITH(class_of(two, 7), Catch::Contains("has the priority 7, which none of"));
}

TEST_CASE("No window of an unloaded server breaches, and every one of a saturated server does",
          "[laws]") {
  const Window window{.length = 30.0 * base::second};
  const std::string promise = ", objectives: {ttft: 1 s, tpot: 50 ms}";
  const StreamedScenario idle = scenario("arrivals: {process: poisson, rate: 0.5 /s}" + promise);
  const Breach never = breach_of_draws(view(idle.scenario), idle.stream, window, 12, 2);
  CHECK(never.windows == 12);
  CHECK(never.probability() == 0.0);
  CHECK(never.attainment == 1.0);
  CHECK(never.interval.low == 0.0);
  CHECK(never.interval.high > 0.2);
  const StreamedScenario full = scenario("arrivals: {process: poisson, rate: 200 /s}" + promise);
  const Breach always = breach_of_draws(view(full.scenario), full.stream, window, 3, 2);
  CHECK(always.probability() == 1.0);
  CHECK(always.least_attainment < 0.5);
}

TEST_CASE("A breach is as probable on any number of threads, and less so the more may miss",
          "[laws][long]") {
  for (const std::string load : {"arrivals: {process: poisson, rate: 15 /s}", "concurrency: 100"}) {
    INFO(load);
    const StreamedScenario s = scenario(load + ", objectives: {ttft: 100 ms}");
    Window window{.length = 10.0 * base::second};
    const auto of = [&](double share, unsigned threads) {
      window.share = share;
      return breach_of_draws(view(s.scenario), s.stream, window, 5, threads);
    };
    const Breach one = of(0.9, 1);
    const Breach three = of(0.9, 3);
    CHECK(one.breached == three.breached);
    CHECK(one.attainment == three.attainment);
    CHECK(one.least_attainment == three.least_attainment);
    CHECK(one.attainment > 0.0);
    CHECK(of(0.0, 2).breached == 0);
    CHECK(of(0.0, 2).breached <= of(0.5, 2).breached);
    CHECK(of(0.5, 2).breached <= of(1.0, 2).breached);
  }
}

// Requests at 0 and 35 s: the windows from 10 to 30 s have none. A closed loop of one client whose answer takes minutes.
TEST_CASE("Windows in which no request arrives are refused, not judged", "[unit]") {
  Simulation simulation;
  simulation.requests.resize(2);
  simulation.requests[1].arrival = 35.0 * base::second;
  CHECK_THROWS_WITH(breach_of_run(simulation, promised({.ttft = 2.0 * base::second}),
                                  {.length = 10.0 * base::second}),
                    Catch::Contains("no request arrives in any of 2 windows of 10 s"));
  StreamedScenario slow = read_streamed_scenario(base::parse_document(
      "test",
      "system: hgx_h200\nmodel: llama-3.1-8b\nprecision: fp8\ndeployment: {tensor_parallel: 1}\n"
      "serving: {stack: vllm}\ntraffic: {input_tokens: 100, output_tokens: 60000, concurrency: 1, "
      "objectives: {ttft: 1 s}}\n"));
  CHECK_THROWS_WITH(
      breach_of_draws(view(slow.scenario), slow.stream, {.length = 10.0 * base::second}, 2, 1),
      Catch::Contains("no request arrives in any of 2 windows of 10 s"));
}

// Ten requests in each of seven windows of 10 s; in the windows 2 and 3 two of the ten wait too long. The last window
// is cut short.
TEST_CASE("The windows of a run leave out the first and what is left at the end", "[unit]") {
  Simulation simulation;
  for (int i = 0; i < 68; ++i) {
    ServedRequest r;
    r.arrival = i * base::second;
    r.output_tokens = 1;
    const bool slow = (i >= 20 && i < 22) || (i >= 35 && i < 37) || i >= 60 || i < 10;
    r.first_token = r.last_token = r.arrival + (slow ? 9.0 : 1.0) * base::second;
    simulation.requests.push_back(r);
  }
  const workloads::RequestClasses classes = promised({.ttft = 2.0 * base::second});
  const Breach breach =
      breach_of_run(simulation, classes, {.length = 10.0 * base::second, .share = 0.9});
  CHECK(breach.windows == 5);
  CHECK(breach.breached == 2);
  CHECK(breach.attainment == Approx(46.0 / 50.0));
  CHECK(breach.least_attainment == Approx(0.8));
  CHECK(breach.interval.low < 0.4);
  CHECK(breach.interval.high > 0.4);
  CHECK(
      breach_of_run(simulation, classes, {.length = 10.0 * base::second, .share = 0.8}).breached ==
      0);
  CHECK_THROWS_WITH(breach_of_run(simulation, classes, {.length = 40.0 * base::second}),
                    Catch::Contains("no whole window of 40 s after the first"));
}

}  // namespace roofcast::sim::laws_goodput
