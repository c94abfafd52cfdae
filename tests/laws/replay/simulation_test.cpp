// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>

#include "sim/iteration/iteration.hpp"
#include "sim/replay/simulation_summary.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"
#include "tests/laws/cases/simulations.hpp"

namespace roofcast::sim::laws_replay_simulation {
namespace {

struct Case {
  std::string deployment;
  std::string serving;
};

// Stacks, pipeline stages, attention DP, and a KV cache that is short of what the requests want.
const Case kCases[] = {
    {"{tensor_parallel: 8}", "{stack: vllm}"},
    {"{tensor_parallel: 8}", "{stack: sglang}"},
    {"{tensor_parallel: 8}", "{stack: trtllm}"},
    {"{tensor_parallel: 4, pipeline_parallel: 2}", "{stack: vllm}"},
    {"{tensor_parallel: 2, data_parallel: 4}", "{stack: vllm, max_tokens_per_iteration: 1024}"},
    {"{tensor_parallel: 1}", "{stack: vllm, memory_fraction: 0.59}"},
    {"{tensor_parallel: 1}", "{stack: sglang, memory_fraction: 0.57}"},
    {"{tensor_parallel: 1, pipeline_parallel: 2}", "{stack: vllm, memory_fraction: 0.32}"},
};

constexpr const char* kOpen =
    "{input_tokens: {lognormal: {mean: 1500, cv: 1, max: 16000}}, output_tokens: {uniform: [1, "
    "400]}, arrivals: {process: gamma, rate: 5 /s, cv: 2}, requests: 400}";
constexpr const char* kClosed =
    "{input_tokens: {uniform: [100, 4000]}, output_tokens: {uniform: [1, 300]}, concurrency: 48, "
    "requests: 400}";

StreamedScenario scenario(const Case& c, const std::string& traffic) {
  StreamedScenario s = read_streamed_scenario(base::parse_document(
      "test", "system: hgx_h200\nmodel: llama-3.1-70b\nprecision: fp8\ndeployment: " +
                  c.deployment + "\nserving: " + c.serving + "\ntraffic: " + traffic + "\n"));
  laws::without_front_end(s.scenario.serving.stack);
  return s;
}

using laws::run;

template <class Law>
void for_each_run(Law law) {
  laws::for_each_run(kCases, {kOpen, kClosed}, scenario, law);
}

// Prompts of four units of 256 tokens, the first `shared` of them the same in all.
workloads::Requests prompts(std::size_t count, std::size_t shared, double gap) {
  workloads::Requests all;
  all.block_tokens = 256;
  for (std::size_t i = 0; i < count; ++i) {
    workloads::Request r;
    r.arrival = static_cast<double>(i) * gap * base::second;
    r.input_tokens = 4 * 256 + 100;
    r.output_tokens = 20;
    r.first_block = all.blocks.size();
    r.block_count = 4;
    for (std::size_t unit = 0; unit < 4; ++unit) {
      all.blocks.push_back(unit < shared ? unit + 1 : 1000 * (i + 1) + unit);
    }
    all.requests.push_back(r);
  }
  return all;
}

}  // namespace

TEST_CASE("Every request is served once, in order: queued, scheduled, first token, last token",
          "[laws]") {
  std::int64_t preemptions = 0;
  for_each_run([&](const StreamedScenario& s, const Simulation& simulation) {
    CHECK(simulation.requests.size() == 400);
    const base::Seconds overhead = s.scenario.serving.stack.request_overhead;
    for (const ServedRequest& r : simulation.requests) {
      CHECK_FALSE(r.rejected);
      CHECK(r.queued.si() == Approx((r.arrival + overhead).si()));
      CHECK(r.scheduled >= r.queued);
      CHECK(r.first_token > r.scheduled);
      CHECK((r.output_tokens == 1 ? r.last_token == r.first_token : r.last_token > r.first_token));
      CHECK(r.last_token <= simulation.end);
    }
    preemptions += simulation.preemptions;
  });
  CHECK(preemptions > 100);  // those that were preempted finished too
}

TEST_CASE("Tokens computed are the tokens asked for, and more only after a preemption", "[laws]") {
  for_each_run([](const StreamedScenario&, const Simulation& simulation) {
    std::int64_t asked_in = 0;
    std::int64_t asked_out = 0;
    for (const ServedRequest& r : simulation.requests) {
      asked_in += r.input_tokens;
      asked_out += r.output_tokens;
    }
    std::int64_t in = 0;
    std::int64_t out = 0;
    for (const SimulatedSecond& second : simulation.seconds) {
      in += second.prompt_tokens;
      out += second.output_tokens;
    }
    CHECK(out == asked_out);
    CHECK((simulation.preemptions > 0 ? in > asked_in : in == asked_in));
  });
}

TEST_CASE("The KV cache is never over-committed", "[laws]") {
  for_each_run([](const StreamedScenario&, const Simulation& simulation) {
    CHECK(simulation.peak_cache <= 1.0);
    for (const SimulatedSecond& second : simulation.seconds) {
      CHECK(second.cache <= 1.0 + 1e-9);
    }
  });
}

TEST_CASE("Little's law: requests running are the rate times their stay", "[laws]") {
  for_each_run([](const StreamedScenario&, const Simulation& simulation) {
    if (simulation.preemptions > 0) {
      return;  // time between a preemption and the next admission is spent waiting
    }
    base::Seconds running;
    base::Seconds waiting;
    for (const ServedRequest& r : simulation.requests) {
      running += r.last_token - r.scheduled;
      waiting += r.waiting();
    }
    const SimulatedLoad load = load_of(simulation);
    CHECK(load.running == Approx(running / simulation.end));
    CHECK(load.waiting == Approx(waiting / simulation.end).margin(1e-9));
  });
}

TEST_CASE("Requests that wait or run keep the first stage from being idle", "[laws]") {
  const StreamedScenario s = scenario(kCases[0], kOpen);
  const Simulation simulation = run(s);
  // Without pipeline stages the stage is busy exactly while somebody runs.
  base::Seconds busy;
  std::vector<std::pair<base::Seconds, base::Seconds>> stays;
  for (const ServedRequest& r : simulation.requests) {
    stays.push_back({r.scheduled, r.last_token});
  }
  std::sort(stays.begin(), stays.end());
  base::Seconds upto;
  for (const auto& [from, to] : stays) {
    busy += std::max(base::Seconds{}, to - std::max(from, upto));
    upto = std::max(upto, to);
  }
  CHECK(load_of(simulation).utilisation == Approx(busy / simulation.end));
  // And nobody waits for an idle one.
  for (const ServedRequest& r : simulation.requests) {
    const bool met = std::any_of(stays.begin(), stays.end(), [&](const auto& stay) {
      return stay.first < r.scheduled && stay.second >= r.scheduled;
    });
    CHECK((met || r.waiting() == base::Seconds{}));
  }
}

TEST_CASE("Requests are scheduled in the order in which they arrive", "[laws]") {
  for_each_run([](const StreamedScenario&, const Simulation& simulation) {
    CHECK(std::is_sorted(
        simulation.requests.begin(), simulation.requests.end(),
        [](const ServedRequest& a, const ServedRequest& b) { return a.scheduled < b.scheduled; }));
  });
}

TEST_CASE("The same seed gives the same times, another one others", "[laws]") {
  const auto times = [](std::int64_t seed) {
    StreamedScenario s = scenario(kCases[3], kOpen);
    s.stream.seed = seed;
    std::vector<base::Seconds> all;
    for (const ServedRequest& r : run(s).requests) {
      all.insert(all.end(), {r.arrival, r.scheduled, r.first_token, r.last_token});
    }
    return all;
  };
  CHECK(times(1) == times(1));
  CHECK(times(1) != times(2));
}

TEST_CASE("One client alone waits for its prompt and its decodes, nothing else", "[laws]") {
  for (const std::size_t index : {0U, 1U, 2U, 4U}) {
    const StreamedScenario s =
        scenario(kCases[index], "{input_tokens: 900, output_tokens: 50, concurrency: 1}");
    const Simulation simulation = run(s);
    Workspace workspace;
    const double overhead = workloads::request_time(s.scenario.serving.stack, 900).si();
    double decodes = 0.0;
    for (std::int64_t context = 900; context < 949; ++context) {
      decodes +=
          iteration_cost(view(s.scenario), {1, 1, context, 0, 0, 0, 1}, workspace).latency.si();
    }
    const double prompt =
        iteration_cost(view(s.scenario), {0, 1, 0, 1, 900, 0, 1}, workspace).latency.si();
    REQUIRE(simulation.requests.size() == 10);
    for (const ServedRequest& r : simulation.requests) {
      CHECK(r.ttft().si() == Approx(overhead + prompt));
      CHECK((r.last_token - r.first_token).si() == Approx(decodes).epsilon(1e-3));
    }
  }
}

TEST_CASE("At a rate that is low, requests do not meet", "[laws]") {
  const StreamedScenario s = scenario(
      kCases[0],
      "{input_tokens: 900, output_tokens: 50, arrivals: {process: constant, rate: 0.1 /s}, "
      "requests: 20}");
  const Simulation simulation = run(s);
  for (const ServedRequest& r : simulation.requests) {
    CHECK(r.waiting().si() == Approx(0.0).margin(1e-9));
    CHECK(r.ttft().si() == Approx(simulation.requests.front().ttft().si()));
  }
}

TEST_CASE("A closed loop never has more requests than clients", "[laws]") {
  const StreamedScenario s = scenario(kCases[0], kClosed);
  const Simulation simulation = run(s);
  CHECK(simulation.peak_running <= 48);
  const SimulatedLoad load = load_of(simulation);
  CHECK(load.running + load.waiting <= 48.0);
}

TEST_CASE("No more requests run on average than at most, on all replicas together", "[laws]") {
  const StreamedScenario s =
      scenario({"{tensor_parallel: 2}", "{stack: vllm, replicas: 4}"}, kClosed);
  const Simulation simulation = run(s);
  CHECK(load_of(simulation).running <= static_cast<double>(simulation.peak_running));
  CHECK(simulation.peak_running > 24);  // more than a replica's share of the clients
  CHECK(simulation.peak_running <= 48);
}

TEST_CASE("What no cache or context can hold is refused, and the rest is served", "[laws]") {
  StreamedScenario s =
      scenario(kCases[0], "{input_tokens: 900, output_tokens: 50, concurrency: 2, requests: 20}");
  workloads::Requests requests = workloads::draw_requests(s.stream);
  requests.requests[1].input_tokens = 200000;  // the model's context is 131,072
  const Simulation simulation = simulate(view(s.scenario), requests, 2);
  for (std::size_t i = 0; i < requests.requests.size(); ++i) {
    CHECK(simulation.requests[i].rejected == (i == 1));
  }
  const SimulationSummary summary = summarise(simulation, 0, {});
  CHECK(summary.requests == 19);
  CHECK(summary.rejected == 1);
}

TEST_CASE("A scenario that does not fit says why", "[laws]") {
  const StreamedScenario s = scenario({"{tensor_parallel: 16}", "{stack: vllm}"}, kClosed);
  CHECK(run(s).reason == "needs 16 GPUs, the system has 8");
}

TEST_CASE("Prompts that share a prefix compute it once, and others as without a prefix cache",
          "[laws]") {
  for (const char* stack : {"vllm", "sglang", "trtllm"}) {
    const auto simulated = [&](std::size_t shared, const std::string& cache) {
      StreamedScenario s =
          scenario({"{tensor_parallel: 8}", "{stack: " + std::string(stack) +
                                                ", scheduler: {prefix_cache: " + cache + "}}"},
                   kClosed);
      s.scenario.serving.stack.eager_operator = {};  // of short prompts the host is the slower
      return simulate(view(s.scenario), prompts(50, shared, 0.05), 0);
    };
    const Simulation without = simulated(3, "false");
    const Simulation different = simulated(0, "true");
    const Simulation same = simulated(3, "true");
    for (std::size_t i = 0; i < 50; ++i) {
      CHECK(without.requests[i].reused_tokens == 0);
      CHECK(different.requests[i].reused_tokens == 0);
      CHECK(different.requests[i].first_token == without.requests[i].first_token);
      CHECK(different.requests[i].last_token == without.requests[i].last_token);
      CHECK(same.requests[i].last_token <= without.requests[i].last_token);
    }
    CHECK(same.requests[0].reused_tokens == 0);
    CHECK(same.requests[49].reused_tokens == 3 * 256);
    CHECK(same.requests[49].ttft() < without.requests[49].ttft());
  }
}

TEST_CASE("A scheduler that seldom looks for requests starts them later, and serves them all",
          "[laws]") {
  base::Seconds before;
  for (const char* iterations : {"1", "10", "30"}) {
    const StreamedScenario s = scenario(
        {"{tensor_parallel: 8}",
         std::string("{stack: sglang, scheduler: {receive_iterations: ") + iterations + "}}"},
        "{input_tokens: 500, output_tokens: {uniform: [100, 200]}, concurrency: 8, requests: 200}");
    const SimulationSummary summary = summarise(run(s), 0, {});
    CHECK(summary.requests == 200);
    CHECK(summary.waiting.mean > before);
    before = summary.waiting.mean;
  }
}

TEST_CASE("With one replica every router is none", "[laws]") {
  const auto last_tokens = [](const std::string& router) {
    const StreamedScenario s =
        scenario({"{tensor_parallel: 8}", "{stack: vllm, router: " + router + "}"}, kOpen);
    std::vector<base::Seconds> all;
    for (const ServedRequest& r : run(s).requests) {
      all.push_back(r.last_token);
    }
    return all;
  };
  const std::vector<base::Seconds> least = last_tokens("least loaded");
  CHECK(last_tokens("round robin") == least);
  CHECK(last_tokens("prefix aware") == least);
}

TEST_CASE("Two replicas serve two halves as each alone would", "[laws]") {
  StreamedScenario two =
      scenario({"{tensor_parallel: 4}", "{stack: vllm, replicas: 2, router: round robin}"}, kOpen);
  const workloads::Requests all = workloads::draw_requests(two.stream);
  const Simulation together = simulate(view(two.scenario), all, 0);
  two.scenario.serving.replicas = 1;
  for (const std::size_t replica : {0U, 1U}) {
    workloads::Requests half;
    for (std::size_t i = replica; i < all.requests.size(); i += 2) {
      half.requests.push_back(all.requests[i]);
    }
    const Simulation alone = simulate(view(two.scenario), half, 0);
    for (std::size_t i = 0; i < half.requests.size(); ++i) {
      const ServedRequest& r = together.requests[2 * i + replica];
      CHECK(r.replica == static_cast<std::int32_t>(replica));
      CHECK(r.first_token.si() == Approx(alone.requests[i].first_token.si()));
      CHECK(r.last_token.si() == Approx(alone.requests[i].last_token.si()));
    }
  }
}

// Sixteen conversations' prefixes on four replicas, each at every replica in turn when dealt out.
TEST_CASE("A router that knows prefixes reuses more of them than one that does not", "[laws]") {
  workloads::Requests all = prompts(400, 0, 0.1);
  for (std::size_t i = 0; i < 400; ++i) {
    for (std::size_t unit = 0; unit < 3; ++unit) {
      all.blocks[4 * i + unit] = 10 * ((i * 7 + i / 16) % 16 + 1) + unit;
    }
  }
  const auto reused = [&](const std::string& router) {
    const StreamedScenario s = scenario(
        {"{tensor_parallel: 2}", "{stack: vllm, replicas: 4, router: " + router + "}"}, kOpen);
    return summarise(simulate(view(s.scenario), all, 0), 0, {}).prefix_hit_rate;
  };
  CHECK(reused("prefix aware") > reused("round robin"));
}

// Four requests with TTFT 1, 2, 3, 4 s and TPOT 0.1 s.
TEST_CASE("Percentiles, rates and goodput of a run", "[unit]") {
  Simulation simulation;
  for (int i = 0; i < 4; ++i) {
    ServedRequest r;
    r.arrival = i * base::second;
    r.queued = r.arrival;
    r.scheduled = (i + 0.5) * base::second;
    r.first_token = (2.0 * i + 1.0) * base::second;
    r.last_token = r.first_token + base::second;
    r.input_tokens = 100;
    r.output_tokens = 11;
    simulation.requests.push_back(r);
  }
  const workloads::RequestClasses objectives = {{.objectives = {.ttft = 3.0 * base::second}}};
  const SimulationSummary all = summarise(simulation, 0, objectives);
  CHECK(all.ttft.mean.si() == Approx(2.5));
  CHECK(all.ttft.p50.si() == Approx(2.5));
  CHECK(all.ttft.p90.si() == Approx(3.7));
  CHECK(all.tpot.p99.si() == Approx(0.1));
  CHECK(all.waiting.mean.si() == Approx(0.5));
  CHECK(all.duration.si() == Approx(8.0));
  CHECK(all.output_rate == Approx(44.0 / 8.0));
  CHECK(all.attainment == Approx(0.75));
  CHECK(all.goodput == Approx(3.0 / 8.0));
  CHECK(std::isnan(all.ttft.interval.si()));
  const SimulationSummary later = summarise(simulation, 2, objectives);
  CHECK(later.requests == 2);
  CHECK(later.ttft.mean.si() == Approx(3.5));
  CHECK(later.duration.si() == Approx(6.0));
}

TEST_CASE("The interval of a mean holds it about as often as it says, however bursty the traffic",
          "[laws]") {
  constexpr std::int64_t kSeeds = 100;
  for (const char* arrivals :
       {"{process: poisson, rate: 4 /s}", "{process: gamma, rate: 4 /s, cv: 4}",
        "{process: mmpp, rates: [1 /s, 8 /s], sojourns: [60 s, 20 s]}"}) {
    StreamedScenario s =
        scenario(kCases[0], "{input_tokens: 1500, output_tokens: 200, requests: 500, arrivals: " +
                                std::string(arrivals) + "}");
    std::vector<SimulatedTimes> runs;
    base::Seconds sum;
    for (s.stream.seed = 1; s.stream.seed <= kSeeds; ++s.stream.seed) {
      runs.push_back(summarise(run(s), 0, {}).end_to_end);
      sum += runs.back().mean;
    }
    const base::Seconds mean = sum / static_cast<double>(kSeeds);
    const auto held = std::count_if(runs.begin(), runs.end(), [&](const SimulatedTimes& r) {
      return base::max(r.mean - mean, mean - r.mean) <= r.interval;
    });
    INFO(arrivals);
    CHECK(held >= 85);
  }
}

}  // namespace roofcast::sim::laws_replay_simulation
