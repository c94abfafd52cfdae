// SPDX-License-Identifier: Apache-2.0
//
// Replays and estimates of recorded traces.
#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "sim/estimate.hpp"
#include "sim/replay/simulation_summary.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"
#include "tests/laws/cases/simulations.hpp"
#include "tests/scratch_file.hpp"

namespace roofcast::sim::laws_trace {
namespace {

// Times are multiples of 1/64 s, so another clock has the same differences to the last bit.
std::vector<std::string> rows(double first) {
  base::Random random(1, "rows");
  std::vector<std::string> rows;
  double now = first;
  for (int i = 0; i < 300; ++i) {
    rows.push_back(
        fmt::format("{:.6f},{},{}\n", now, random.integer(100, 4000), random.integer(1, 300)));
    now += static_cast<double>(random.integer(1, 20)) / 64.0;
  }
  return rows;
}

std::string text_of(const std::vector<std::string>& rows) {
  std::string text = "arrival_s,input_tokens,output_tokens\n";
  for (const std::string& row : rows) {
    text += row;
  }
  return text;
}

StreamedScenario scenario(const Scratch& trace, const std::string& keys = "",
                          const std::string& beside = "") {
  return read_streamed_scenario(base::parse_document(
      "test", fmt::format("system: hgx_h200\nmodel: llama-3.1-70b\nprecision: fp8\n"
                          "deployment: {{tensor_parallel: 4}}\nserving: {{stack: vllm}}\n"
                          "traffic:\n  trace: {{file: {}{}}}\n{}",
                          trace.file().string(), keys, beside)));
}

bool same(const Simulation& one, const Simulation& two) {
  return one.requests.size() == two.requests.size() &&
         std::equal(one.requests.begin(), one.requests.end(), two.requests.begin(),
                    [](const ServedRequest& a, const ServedRequest& b) {
                      return a.arrival == b.arrival && a.first_token == b.first_token &&
                             a.last_token == b.last_token;
                    });
}

}  // namespace

TEST_CASE("A trace simulates alike under any clock and in any order of its rows", "[laws]") {
  std::vector<std::string> ordered = rows(0.0);
  const Simulation first = laws::run(scenario(Scratch(text_of(ordered))));
  REQUIRE(first.reason.empty());
  CHECK(same(first, laws::run(scenario(Scratch(text_of(rows(1.7e9)))))));
  std::shuffle(ordered.begin(), ordered.end(), std::mt19937(1));
  CHECK(same(first, laws::run(scenario(Scratch(text_of(ordered))))));
}

TEST_CASE("A trace at another speed is the trace with other times", "[laws]") {
  const Scratch trace(text_of(rows(0.0)));
  StreamedScenario s = scenario(trace);
  workloads::Requests requests = workloads::draw_requests(s.stream);
  for (workloads::Request& request : requests.requests) {
    request.arrival = request.arrival / 2.0;
  }
  CHECK(same(simulate(view(s.scenario), requests, 0), laws::run(scenario(trace, ", speed: 2"))));
}

TEST_CASE("A repeat far from the first is served as the first", "[laws]") {
  const std::string text = text_of(rows(0.0)) + "1000,100,1\n";
  const Simulation twice = laws::run(scenario(Scratch(text), ", repeat: 2"));
  REQUIRE(twice.requests.size() == 602);
  for (std::size_t i = 0; i < 300; ++i) {
    CHECK(twice.requests[i + 301].end_to_end().si() == Approx(twice.requests[i].end_to_end().si()));
    CHECK(twice.requests[i + 301].reused_tokens == 0);
  }
}

TEST_CASE("An estimate with a trace is that of its lengths and arrivals, and speed is a rate",
          "[laws]") {
  const Scratch trace(text_of(rows(0.0)));
  Workspace workspace;
  const auto estimated = [&](const std::string& keys) {
    return estimate(view(scenario(trace, keys).scenario), workspace);
  };
  const ServingEstimate slow = estimated(", speed: 0.5");
  const ServingEstimate fast = estimated("");
  REQUIRE(slow.fits());
  REQUIRE(fast.fits());
  CHECK(fast.steady.utilisation == Approx(2.0 * slow.steady.utilisation).epsilon(0.01));
  CHECK(fast.steady.ttft_mean > slow.steady.ttft_mean);
  CHECK(fast.steady.tpot > slow.steady.tpot);
}

TEST_CASE("Requests that come over more than a hundred days are refused before memory is taken",
          "[laws]") {
  const Simulation gap =
      laws::run(scenario(Scratch("arrival_s,input_tokens,output_tokens\n0,100,5\n1e9,100,5\n")));
  CHECK(gap.reason == "the requests take more than 100 days, the most that is simulated");
  CHECK(gap.seconds.size() < 10);
  const Simulation late = laws::run(
      scenario(Scratch("arrival_s,input_tokens,output_tokens\n1.7e9,100,5\n1700000001,100,5\n")));
  CHECK(late.reason.empty());
  CHECK(late.seconds.size() < 10);
}

TEST_CASE("A Poisson trace is estimated as Poisson arrivals of its rate", "[laws]") {
  constexpr int kRequests = 1000;
  constexpr double kRate = 6.0;
  Workspace workspace;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    INFO(seed);
    base::Random random(seed, "arrivals");
    std::string text = "arrival_s,input_tokens,output_tokens\n";
    double now = 0.0;
    for (int i = 0; i < kRequests; ++i) {
      text += fmt::format("{:.6f},2000,100\n", now);
      now += random.exponential(1.0 / kRate);
    }
    const StreamedScenario traced = scenario(Scratch(text));
    Scenario poisson = traced.scenario;
    poisson.traffic.arrivals->process = workloads::ArrivalProcess::poisson;
    poisson.traffic.arrivals->rate = workloads::mean_rate(*traced.scenario.traffic.arrivals);
    const SteadyState of_trace = estimate(view(traced.scenario), workspace).steady;
    const SteadyState of_poisson = estimate(view(poisson), workspace).steady;
    CHECK(of_poisson.utilisation > 0.5);
    CHECK(of_trace.ttft_mean / of_poisson.ttft_mean == Approx(1.0).margin(0.08));
    CHECK(of_trace.ttft_tail.p95 / of_poisson.ttft_tail.p95 == Approx(1.0).margin(0.08));
    CHECK(of_trace.tpot / of_poisson.tpot == Approx(1.0).margin(0.08));
  }
}

}  // namespace roofcast::sim::laws_trace
