// SPDX-License-Identifier: Apache-2.0
//
// Agents: what must hold of every simulation of them, and closed forms beside it.
#include "sim/serving/agents.hpp"
#include "sim/estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "sim/confirm/replayed_estimate.hpp"
#include "sim/replay/front_stages.hpp"
#include "sim/replay/simulation_summary.hpp"
#include "sim/replay/task_summary.hpp"
#include "sim/scenario/knob.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"
#include "tests/laws/cases/simulations.hpp"

namespace roofcast::sim::laws_agents {
namespace {

StreamedScenario scenario(const std::string& serving, const std::string& agents) {
  return read_streamed_scenario(base::parse_document(
      "test",
      "system: hgx_h200\nmodel: llama-3.1-8b\nprecision: fp8\ndeployment: {tensor_parallel: 1}\n"
      "serving: {stack: vllm" +
          serving + "}\ntraffic: {agents: " + agents + ", seed: 5}\n"));
}

// `more` begins with a comma.
std::string agents_of(int concurrent, int tasks, const std::string& more = "") {
  return fmt::format(
      "{{concurrent: {}, tasks: {}, turns: {{uniform: [2, 16]}}, initial_context: 3000, "
      "shared_context: 2048, output_tokens: {{uniform: [20, 200]}}, tool_tokens: {{uniform: [50, "
      "1500]}}, tools: [{{time: 2 s, cv: 1}}]{}}}",
      concurrent, tasks, more);
}

const std::string kForks =
    ", subagents: {probability: 0.2, count: 3, turns: {uniform: [1, 4]}, initial_context: 2500}";

ServingEstimate estimated(const StreamedScenario& s) {
  Workspace workspace;
  return estimate(view(s.scenario), workspace);
}

// Tasks that arrive by themselves. `more` begins with a comma.
std::string arriving(double rate, int tasks, const std::string& more = "") {
  std::string text = agents_of(1, tasks, more);
  const std::string loop = "concurrent: 1";
  return text.replace(text.find(loop), loop.size(),
                      fmt::format("arrivals: {{process: poisson, rate: {} /s}}", rate));
}

// Retrieval: one turn after three stages, at so many a second.
std::string retrieval(double rate, int tasks) {
  return fmt::format(
      "{{arrivals: {{process: poisson, rate: {} /s}}, tasks: {}, turns: 1, initial_context: "
      "{{lognormal: {{mean: 4000, cv: 0.3, max: 12000}}}}, shared_context: 500, output_tokens: "
      "{{lognormal: {{mean: 200, cv: 0.6, max: 1500}}}}, stages: [{{time: 10 ms}}, {{time: 60 ms, "
      "cv: 0.5, servers: 2}}, {{time: 30 ms, cv: 0.3}}]}}",
      rate, tasks);
}

std::vector<base::Seconds> task_times(const Simulation& simulation) {
  std::vector<base::Seconds> first;
  std::vector<base::Seconds> last;
  for (const ServedRequest& r : simulation.requests) {
    const auto task = static_cast<std::size_t>(r.task);
    if (task >= first.size()) {
      first.resize(task + 1, base::Seconds::infinity());
      last.resize(task + 1);
    }
    first[task] = std::min(first[task], r.arrival);
    last[task] = std::max(last[task], r.last_token);
  }
  for (std::size_t i = 0; i < first.size(); ++i) {
    last[i] -= first[i];
  }
  return last;
}

}  // namespace

// Scenario 537 of seed 3 of `calibrate validate simulation --check-only`. Its sessions alive are 1 but for rounding.
TEST_CASE("One agent is one client: faster links make it no slower", "[laws]") {
  base::Seconds token = base::Seconds::infinity();
  double rate = 0.0;
  for (const int bandwidth : {1800, 1980, 2340, 2880, 3600, 5400}) {
    const StreamedScenario s = read_streamed_scenario(base::parse_document(
        "test",
        fmt::format("system: {{base: hgx_b200, chip: {{base: b200_sxm, nvlink: "
                    "{{bandwidth_bidirectional: {} GB/s}}}}}}\nmodel: deepseek-v3\n"
                    "precision: fp8_block\nserving: {{stack: trtllm}}\n"
                    "deployment: {{tensor_parallel: 8}}\ntraffic: {{agents: {}, seed: 5}}\n",
                    bandwidth, agents_of(1, 60))));
    const SteadyState steady = estimated(s).steady;
    INFO(bandwidth);
    CHECK(steady.tpot <= token);
    CHECK(steady.requests_per_second >= rate);
    token = steady.tpot;
    rate = steady.requests_per_second;
  }
}

TEST_CASE("A turn is sent when all that it follows is answered and its tools are done, no sooner",
          "[laws]") {
  const char* servings[] = {"", ", replicas: 3, router: session", ", memory_fraction: 0.12",
                            ", replicas: 2, router: round robin"};
  for (const char* serving : servings) {
    INFO(serving);
    const StreamedScenario s = scenario(serving, agents_of(12, 60, kForks));
    const workloads::Requests requests = workloads::draw_requests(s.stream);
    const Simulation simulation = simulate(view(s.scenario), requests, s.stream.concurrency);
    REQUIRE(simulation.reason.empty());
    std::vector<base::Seconds> sent(requests.requests.size());
    for (const workloads::FollowUp& each : requests.follow_ups) {
      const ServedRequest& before = simulation.requests[static_cast<std::size_t>(each.after)];
      base::Seconds& when = sent[static_cast<std::size_t>(each.request)];
      when = std::max(when, before.last_token + each.delay);
    }
    for (std::size_t i = 0; i < sent.size(); ++i) {
      const ServedRequest& r = simulation.requests[i];
      CHECK(!r.rejected);
      CHECK(r.last_token >= r.first_token);
      CHECK(r.first_token > r.arrival);
      if (sent[i] > base::Seconds{}) {
        CHECK(r.arrival == sent[i]);
      }
    }
  }
}

TEST_CASE("Tasks that arrive by themselves begin when they arrive, however long others take",
          "[laws]") {
  const StreamedScenario s = scenario("", arriving(0.5, 80, kForks));
  const StreamedScenario slow =
      scenario(", scheduler: {prefix_cache: false}", arriving(0.5, 80, kForks));
  const workloads::Requests requests = workloads::draw_requests(s.stream);
  workloads::ArrivalTimes times(*s.stream.agents->arrivals, base::Random(5, "arrivals"));
  const Simulation simulation = laws::run(s);
  const Simulation slower = laws::run(slow);
  std::int32_t task = -1;
  for (std::size_t i = 0; i < simulation.requests.size(); ++i) {
    const ServedRequest& r = simulation.requests[i];
    CHECK(!r.rejected);
    CHECK(r.arrival >= requests.requests[i].arrival);
    if (r.task == task) {
      continue;
    }
    task = r.task;
    CHECK(r.arrival == times.next());
    CHECK(slower.requests[i].arrival == r.arrival);
  }
  CHECK(task == 79);
  CHECK(summarise_tasks(slower, 0, 0).time.mean > summarise_tasks(simulation, 0, 0).time.mean);
}

TEST_CASE("Closed forms of tasks that arrive by themselves are those of their simulation",
          "[laws]") {
  for (const double rate : {0.2, 0.7, 1.2}) {
    INFO(rate << " tasks a second");
    // Near saturation 1,500 tasks have a TPOT of 13.3 to 14.9 ms by the seed.
    const StreamedScenario s = scenario("", arriving(rate, 6000, kForks));
    const ServingEstimate e = estimated(s);
    REQUIRE(e.fits());
    const Simulation simulation = laws::run(s);
    const TaskSummary t = summarise_tasks(simulation, 150, 0);
    const SimulationSummary turns = summarise(simulation, 2000, {});
    CHECK(e.task.per_second == Approx(rate));
    CHECK(t.tasks_per_second == Approx(rate).epsilon(0.06));
    CHECK(e.steady.requests_per_second == Approx(rate * t.turns).epsilon(0.06));
    CHECK(e.task.mean.si() == Approx(t.time.mean.si()).epsilon(0.06));
    CHECK(e.task.p95.si() == Approx(t.time.p95.si()).epsilon(0.1));
    CHECK(e.steady.ttft_mean.si() == Approx(turns.ttft.mean.si()).epsilon(0.1));
    CHECK(e.steady.tpot.si() == Approx(turns.tpot.mean.si()).epsilon(0.1));
  }
}

TEST_CASE("TTFT of retrieval has its stages, in the mean and in the tail", "[laws]") {
  for (const double rate : {1.0, 5.0, 10.0}) {
    INFO(rate << " a second");
    const StreamedScenario s = scenario("", retrieval(rate, 6000));
    const ServingEstimate e = estimated(s);
    REQUIRE(e.fits());
    const Simulation simulation = laws::run(s);
    const SimulationSummary turns = summarise(simulation, 300, {});
    const TaskSummary t = summarise_tasks(simulation, 300, 0);
    CHECK(e.steady.ttft_mean.si() > 0.1);
    CHECK(e.steady.ttft_mean.si() == Approx(turns.ttft.mean.si()).epsilon(0.08));
    CHECK(e.steady.ttft_tail.p95.si() == Approx(turns.ttft.p95.si()).epsilon(0.15));
    CHECK(e.steady.ttft_p50 < e.steady.ttft_tail.p95);
    CHECK(e.task.mean.si() == Approx(t.time.mean.si()).epsilon(0.08));
    CHECK(e.task.p95.si() == Approx(t.time.p95.si()).epsilon(0.15));
  }
}

TEST_CASE("Tasks that come faster than a stage or the engine lets through have no steady state",
          "[laws]") {
  // One server of 30 ms: 33 a second. The engine is slower than that with a tenth of its bandwidth.
  const ServingEstimate few = estimated(scenario("", retrieval(30.0, 1)));
  const ServingEstimate many = estimated(scenario("", retrieval(34.0, 1)));
  CHECK(!many.fits());
  CHECK(many.steady.saturation <= 1.0 / 0.03 + 1e-6);
  CHECK(many.steady.utilisation > few.steady.utilisation);
  const ServingEstimate agents = estimated(scenario("", arriving(50.0, 1)));
  CHECK(!agents.fits());
  CHECK(reason(agents).find("can be served") != std::string::npos);
}

TEST_CASE("k sub-agents never beat the critical path", "[laws]") {
  std::vector<base::Seconds> fewer;
  for (const int k : {1, 2, 4, 8}) {
    const StreamedScenario s =
        scenario("", agents_of(1, 20,
                               fmt::format(", subagents: {{probability: 0.3, count: {}, turns: "
                                           "{{uniform: [1, 4]}}, initial_context: 2500}}",
                                           k)));
    const workloads::Requests requests = workloads::draw_requests(s.stream);
    const Simulation together = simulate(view(s.scenario), requests, 1);
    const std::vector<base::Seconds> times = task_times(together);
    // Each answer takes at least as long as alone; no path through the task is shorter than those of its answers
    // and tools.
    workloads::Requests alone = requests;
    alone.follow_ups.clear();
    const Simulation lone = simulate(view(s.scenario), alone, 1);
    std::vector<base::Seconds> done(requests.requests.size());
    std::vector<base::Seconds> ready(requests.requests.size());
    std::vector<base::Seconds> critical(times.size());
    bool changed = true;
    while (changed) {
      changed = false;
      for (std::size_t i = 0; i < done.size(); ++i) {
        const ServedRequest& r = lone.requests[i];
        const base::Seconds decode = r.last_token - r.first_token;
        const base::Seconds finished = ready[i] + decode;
        changed = changed || finished > done[i];
        done[i] = std::max(done[i], finished);
      }
      for (const workloads::FollowUp& each : requests.follow_ups) {
        base::Seconds& when = ready[static_cast<std::size_t>(each.request)];
        const base::Seconds sent = done[static_cast<std::size_t>(each.after)] + each.delay;
        changed = changed || sent > when;
        when = std::max(when, sent);
      }
    }
    for (std::size_t i = 0; i < done.size(); ++i) {
      base::Seconds& longest = critical[static_cast<std::size_t>(requests.requests[i].task)];
      longest = std::max(longest, done[i]);
    }
    for (std::size_t t = 0; t < times.size(); ++t) {
      CHECK(times[t] > critical[t]);
      if (!fewer.empty()) {
        CHECK(times[t] > 0.999 * fewer[t]);  // of the same task with fewer of the same sub-agents
      }
    }
    fewer = times;
  }
}

TEST_CASE("With room for all, a turn finds all whole blocks of its session and what all share",
          "[laws]") {
  const StreamedScenario s = scenario("", agents_of(1, 30, kForks));
  const auto tasks = draw_tasks(*s.stream.agents, 30, 5);
  const Simulation simulation = laws::run(s);
  std::size_t next = 0;
  for (const workloads::AgentTask& task : tasks) {
    for (const auto& session : task.sessions) {
      for (const workloads::AgentTurn& turn : session) {
        const ServedRequest& r = simulation.requests[next++];
        if (r.task > 0) {
          CHECK(r.reused_tokens == turn.own_known + turn.shared_known);
        }
      }
    }
  }
}

TEST_CASE("Without a prefix cache nothing is found, and tasks take longer", "[laws]") {
  const StreamedScenario with = scenario("", agents_of(16, 80));
  const StreamedScenario without =
      scenario(", scheduler: {prefix_cache: false}", agents_of(16, 80));
  CHECK(summarise(laws::run(without), 0, {}).prefix_hit_rate == 0.0);
  CHECK(summarise_tasks(laws::run(without), 0, 16).time.mean >
        1.1 * summarise_tasks(laws::run(with), 0, 16).time.mean);
  CHECK(estimated(without).task.prefix_hit_rate == 0.0);
  CHECK(estimated(without).task.mean > 1.1 * estimated(with).task.mean);
}

TEST_CASE("More agents find less of their contexts where the KV cache is short of room", "[laws]") {
  double before = 1.0;
  for (const int agents : {8, 32, 128, 256}) {
    const auto e = estimated(scenario(", memory_fraction: 0.15", agents_of(agents, 1)));
    REQUIRE(e.fits());
    CHECK(e.task.prefix_hit_rate <= before + 1e-9);
    before = e.task.prefix_hit_rate;
  }
  CHECK(before < 0.7);
}

TEST_CASE("Where a front end is always busy it limits the throughput of agents", "[laws]") {
  base::Node document = base::parse_document(
      "test",
      "system: hgx_h200\nmodel: llama-3.1-8b\nprecision: fp8\ndeployment: {tensor_parallel: 1}\n"
      "serving: {stack: vllm}\ntraffic: {agents: " +
          agents_of(128, 1) + ", seed: 5}\n");
  const ServingEstimate free = estimated(read_streamed_scenario(document));
  base::Problems problems;
  set_knob(document, {"--set", "serving.stack.front_end.per_prompt_token=x50", {}}, problems);
  problems.throw_if_any();
  const ServingEstimate busy = estimated(read_streamed_scenario(std::move(document)));
  REQUIRE(busy.fits());
  CHECK(free.steady.throughput_limit != Limit::host);
  CHECK(busy.steady.throughput_limit == Limit::host);
  CHECK(busy.task.per_second < free.task.per_second);
}

TEST_CASE("Tasks an hour grow with agents while their contexts fit, and no task gets shorter",
          "[laws]") {
  double rate = 0.0;
  double time = 0.0;
  for (const int agents : {1, 2, 4, 8, 16, 32, 64}) {
    const ServingEstimate e = estimated(scenario("", agents_of(agents, 1, kForks)));
    REQUIRE(e.fits());
    CHECK(e.task.per_second > rate);
    CHECK(e.task.mean.si() > 0.999 * time);
    CHECK(e.task.p50 < e.task.mean * 1.1);
    CHECK(e.task.p95 > e.task.mean);
    // Little's law of tasks.
    CHECK(e.task.per_second * e.task.mean.si() == Approx(agents));
    rate = e.task.per_second;
    time = e.task.mean.si();
  }
}

TEST_CASE("Two replicas with twice the agents are two of one", "[laws]") {
  const auto one = estimated(scenario("", agents_of(24, 1)));
  const auto two = estimated(scenario(", replicas: 2, router: session", agents_of(48, 1)));
  CHECK(two.task.mean.si() == Approx(one.task.mean.si()).epsilon(0.01));
  CHECK(two.task.per_second == Approx(2.0 * one.task.per_second).epsilon(0.01));
}

TEST_CASE("Closed forms of agents at two pools are those of their simulation", "[laws]") {
  const auto pools = [](int replicas, const std::string& serving, const std::string& agents) {
    return read_streamed_scenario(base::parse_document(
        "test",
        fmt::format("system: hgx_h200\nmodel: llama-3.1-8b\nprecision: fp8\ndeployment: {{prefill: "
                    "{{tensor_parallel: 1, replicas: {}}}, decode: {{tensor_parallel: 2}}}}\n"
                    "serving: {{stack: vllm, router: session",
                    replicas) +
            serving + "}\ntraffic: {agents: " + agents + ", seed: 5}\n"));
  };
  for (const StreamedScenario& s :
       {pools(2, "", agents_of(4, 2000)), pools(2, "", agents_of(64, 1200, kForks)),
        pools(1, ", memory_fraction: 0.15", agents_of(64, 1200)),
        pools(2, "", arriving(3.0, 1200))}) {
    const ServingEstimate e = estimated(s);
    REQUIRE(e.fits());
    const Simulation simulation = laws::run(s);
    REQUIRE(simulation.reason.empty());
    const TaskSummary t =
        summarise_tasks(simulation, 100, static_cast<std::size_t>(s.stream.concurrency));
    const SimulationSummary turns = summarise(simulation, simulation.requests.size() / 5, {});
    INFO(fmt::format("{} clients, found {:.3f}", s.stream.concurrency, turns.prefix_hit_rate));
    CHECK(e.task.mean.si() == Approx(t.time.mean.si()).epsilon(0.06));
    CHECK(e.steady.tpot.si() == Approx(turns.tpot.mean.si()).epsilon(0.06));
    CHECK(e.steady.ttft_mean.si() == Approx(turns.ttft.mean.si()).epsilon(0.15));
    CHECK(std::abs(e.task.prefix_hit_rate - turns.prefix_hit_rate) < 0.06);
  }
}

TEST_CASE("Tasks of agents keep Little's law in a simulation and in its replay", "[laws]") {
  constexpr int kAgents = 32;
  const StreamedScenario s = scenario("", agents_of(kAgents, 400));
  const TaskSummary t = summarise_tasks(laws::run(s), 50, kAgents);
  CHECK(t.tasks_per_second * t.time.mean.si() == Approx(kAgents).epsilon(0.01));
  ReplaySpace space;
  const Replayed r = replay(view(s.scenario), s.stream, estimated(s), {}, space);
  REQUIRE(r.done());
  CHECK(r.estimate.task.per_second * r.estimate.task.mean.si() == Approx(kAgents).epsilon(0.01));
}

TEST_CASE("Stages let no more through than their servers, and less before they are full",
          "[laws]") {
  for (const int servers : {1, 2, 4}) {
    const StreamedScenario s = scenario(
        "", agents_of(
                64, 600,
                fmt::format(
                    ", stages: [{{time: 400 ms, cv: 1, servers: {}}}], think: {{time: 3 s, cv: 1}}",
                    servers)));
    const ServingEstimate e = estimated(s);
    const Simulation simulation = laws::run(s);
    const double most = servers / 0.4;
    CHECK(e.steady.requests_per_second < 1.0001 * most);
    const TaskSummary t = summarise_tasks(simulation, 0, 64);
    CHECK(t.tasks_per_second * t.turns < 1.03 * most);
    CHECK(e.task.per_second == Approx(t.tasks_per_second).epsilon(0.06));
    CHECK(e.task.mean.si() == Approx(t.time.mean.si()).epsilon(0.08));
  }
}

namespace {

struct Errors {
  std::vector<double> values;
  void add(double predicted, double simulated) {
    values.push_back(std::abs(predicted / simulated - 1.0));
  }
  double quantile(double share) {
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  }
};

}  // namespace

TEST_CASE("Closed forms of agents are those of their simulation", "[laws][long]") {
  constexpr std::size_t kFleets = 30;
  const char* kModels[] = {"llama-3.1-8b", "qwen3-32b", "gpt-oss-120b", "llama-3.1-70b"};
  const char* kSystems[] = {"hgx_h100", "hgx_h200", "hgx_b200"};
  const char* kStacks[] = {"vllm", "sglang", "trtllm"};
  base::Random random(4, "fleets");
  const auto pick = [&](const auto& all) {
    return all[static_cast<std::size_t>(
        random.integer(0, static_cast<std::int64_t>(std::size(all)) - 1))];
  };
  Errors mean;
  Errors p95;
  Errors rate;
  double found = 0.0;
  std::string worst;
  while (mean.values.size() < kFleets) {
    const int agents = static_cast<int>(std::lround(std::pow(128.0, random.uniform())));
    const bool forks = random.uniform() < 0.3;
    const std::string text = fmt::format(
        "system: {}\nmodel: {}\nprecision: {}\ndeployment: {{tensor_parallel: {}}}\n"
        "serving: {{stack: {}, memory_fraction: {}, replicas: {}, router: session}}\n"
        "traffic: {{seed: {}, agents: {{concurrent: {}, tasks: {}, turns: {{lognormal: {{mean: {}, "
        "cv: "
        "0.6, max: 60}}}}, initial_context: {}, shared_context: {}, output_tokens: {{lognormal: "
        "{{mean: {}, "
        "cv: 1, max: 3000}}}}, tool_tokens: {{lognormal: {{mean: {}, cv: 1.5, max: 8000}}}}, "
        "tool_calls: "
        "{:.2f}, tools: [{{weight: 2, time: 50 ms}}, {{time: {:.1f} s, cv: 1}}], rewrites: "
        "{:.2f}{}}}}}\n",
        pick(kSystems), pick(kModels), "fp8", random.uniform() < 0.5 ? 2 : 4, pick(kStacks),
        random.uniform() < 0.5 ? 0.7 : 0.9, random.uniform() < 0.3 ? 2 : 1, random.integer(1, 1000),
        agents, std::max(400, 10 * agents), random.integer(4, 24), random.integer(3000, 15000),
        random.integer(0, 3000), random.integer(50, 500), random.integer(100, 1500),
        random.uniform(0.5, 2.0), random.uniform(0.5, 20.0), 0.1 * random.uniform(),
        forks ? fmt::format(", subagents: {{probability: {:.2f}, count: {}, turns: 6, "
                            "initial_context: 4000}}",
                            random.uniform(0.02, 0.2), random.integer(1, 6))
              : "");
    const StreamedScenario s = read_streamed_scenario(base::parse_document("test", text));
    const ServingEstimate e = estimated(s);
    if (!e.fits() || e.max_running < 4.0) {
      continue;
    }
    const Simulation simulation = laws::run(s);
    const TaskSummary t = summarise_tasks(simulation, 0, static_cast<std::size_t>(agents));
    const double share = summarise(simulation, 0, {}).prefix_hit_rate;
    mean.add(e.task.mean.si(), t.time.mean.si());
    p95.add(e.task.p95.si(), t.time.p95.si());
    rate.add(e.task.per_second, t.tasks_per_second);
    found = std::max(found, std::abs(e.task.prefix_hit_rate - share));
    if (mean.values.back() > 0.1) {
      worst += fmt::format(
          "{}mean {:.1f} s, simulated {:.1f} s; found {:.3f}, simulated {:.3f}; {:.1f} in the "
          "engine\n\n",
          text, e.task.mean.si(), t.time.mean.si(), e.task.prefix_hit_rate, share, e.task.present);
    }
  }
  INFO(worst);
  INFO(fmt::format(
      "mean: median {:.3f}, 90 % {:.3f}, worst {:.3f}; p95 {:.3f}, {:.3f}, {:.3f}; rate "
      "{:.3f}, {:.3f}, {:.3f}; found {:.3f}",
      mean.quantile(0.5), mean.quantile(0.9), mean.quantile(1.0), p95.quantile(0.5),
      p95.quantile(0.9), p95.quantile(1.0), rate.quantile(0.5), rate.quantile(0.9),
      rate.quantile(1.0), found));
  CHECK(mean.quantile(0.5) < 0.05);
  CHECK(mean.quantile(0.9) < 0.15);
  CHECK(p95.quantile(0.5) < 0.10);
  CHECK(rate.quantile(0.9) < 0.15);
  CHECK(found < 0.1);
}

}  // namespace roofcast::sim::laws_agents
