// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>

#include "models/footprint.hpp"
#include "sim/decide/sweep.hpp"
#include "sim/decide/sweep_run.hpp"
#include "sim/estimate.hpp"
#include "sim/replay/simulation_summary.hpp"
#include "sim/scenario/pools.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"
#include "tests/laws/cases/simulations.hpp"

namespace roofcast::sim::laws_disaggregation {
namespace {

struct Case {
  std::string system;
  std::string model;
  std::string deployment;
  std::string serving;
};

// Pools wider and narrower than each other, attention DP, pipeline stages, a model with a latent cache, a
// prefill pool and a decode pool that are short of memory.
const Case kCases[] = {
    {"h200_cluster_128", "llama-3.1-70b",
     "{prefill: {replicas: 2, tensor_parallel: 4}, decode: {tensor_parallel: 8}}", "{stack: vllm}"},
    {"h200_cluster_128", "llama-3.1-70b",
     "{prefill: {tensor_parallel: 8}, decode: {replicas: 2, tensor_parallel: 4}}",
     "{stack: sglang, router: round robin}"},
    {"h200_cluster_128", "llama-3.1-70b",
     "{prefill: {replicas: 2, tensor_parallel: 2, pipeline_parallel: 2}, decode: {tensor_parallel: "
     "2, data_parallel: 4, max_sequences: 6}}",
     "{stack: trtllm}"},
    {"h200_cluster_128", "llama-3.1-70b",
     "{prefill: {replicas: 2, tensor_parallel: 1, memory_fraction: 0.59}, decode: "
     "{tensor_parallel: 1, memory_fraction: 0.59}}",
     "{stack: vllm}"},
    {"gb200_nvl72", "deepseek-v3",
     "{prefill: {data_parallel: 4, expert_parallel: 4}, decode: {data_parallel: 8, "
     "expert_parallel: 8}}",
     "{stack: trtllm}"},
};

constexpr const char* kOpen =
    "{input_tokens: {lognormal: {mean: 1500, cv: 1, max: 12000}}, output_tokens: {uniform: [1, "
    "300]}, arrivals: {process: gamma, rate: 4 /s, cv: 2}, requests: 300}";
constexpr const char* kClosed =
    "{input_tokens: {uniform: [100, 4000]}, output_tokens: {uniform: [1, 300]}, concurrency: 48, "
    "requests: 300}";

StreamedScenario scenario(const Case& c, const std::string& traffic) {
  const std::string precision = c.model == "deepseek-v3" ? "nvfp4" : "fp8";
  StreamedScenario streamed = read_streamed_scenario(base::parse_document(
      "test", "system: " + c.system + "\nmodel: " + c.model + "\nprecision: " + precision +
                  "\ndeployment: " + c.deployment + "\nserving: " + c.serving +
                  "\ntraffic: " + traffic + "\n"));
  laws::without_front_end(streamed.scenario.serving.stack);
  return streamed;
}

using laws::run;

template <class Law>
void for_each_run(Law law) {
  laws::for_each_run(kCases, {kOpen, kClosed}, scenario, law);
}

double holders(const workloads::Mapping& m) {
  return static_cast<double>(m.tensor_parallel * m.context_parallel * m.pipeline_parallel);
}

}  // namespace

TEST_CASE("Every request passes both pools in order and waits for its cache", "[laws]") {
  std::int64_t preemptions = 0;
  for_each_run([&](const StreamedScenario& s, const Simulation& simulation) {
    REQUIRE(simulation.requests.size() == 300);
    for (const ServedRequest& r : simulation.requests) {
      CHECK_FALSE(r.rejected);
      CHECK(r.scheduled >= r.queued);
      CHECK(r.prefilled > r.scheduled);
      if (r.output_tokens == 1) {
        CHECK(r.last_token == r.prefilled);
        CHECK(r.first_token == r.prefilled);
        continue;
      }
      const base::Seconds sent =
          kv_transfer(view(s.scenario), static_cast<double>(r.input_tokens)).time;
      CHECK(r.transferred >= (r.prefilled + sent) * (1.0 - 1e-12));
      CHECK(r.first_token >= r.transferred);
      CHECK(r.last_token > r.first_token);
      CHECK(r.last_token <= simulation.end);
    }
    preemptions += simulation.preemptions;
  });
  CHECK(preemptions > 0);  // those that lost their blocks finished too
}

TEST_CASE("Two pools compute the tokens asked for, and more only after a preemption", "[laws]") {
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
    CHECK((simulation.preemptions > 0 ? in >= asked_in : in == asked_in));
  });
}

TEST_CASE("The KV caches of neither pool are over-committed", "[laws]") {
  double fullest = 0.0;
  for_each_run([&](const StreamedScenario&, const Simulation& simulation) {
    CHECK(simulation.peak_cache <= 1.0);
    for (const SimulatedSecond& second : simulation.seconds) {
      CHECK(second.cache <= 1.0 + 1e-9);
    }
    fullest = std::max(fullest, simulation.peak_cache);
  });
  CHECK(fullest > 0.95);
}

TEST_CASE("Little's law over two pools: requests running are the rate times their stays",
          "[laws]") {
  for_each_run([](const StreamedScenario&, const Simulation& simulation) {
    if (simulation.preemptions > 0) {
      return;  // time between a preemption and the next admission is spent waiting
    }
    base::Seconds running;
    base::Seconds waiting;
    for (const ServedRequest& r : simulation.requests) {
      running += r.prefilled - r.scheduled;
      running += r.output_tokens > 1 ? r.last_token - r.first_token : base::Seconds{};
      waiting += r.waiting();
    }
    const SimulatedLoad load = load_of(simulation);
    CHECK(load.running == Approx(running / simulation.end));
    CHECK(load.waiting == Approx(waiting / simulation.end).margin(1e-9));
  });
}

TEST_CASE("What is sent is the cache of the prompt, as the footprint counts it", "[laws]") {
  for (const Case& c : kCases) {
    const StreamedScenario s = scenario(c, kOpen);
    const ScenarioView v = view(s.scenario);
    const workloads::Mapping& to = v.pools->decode.mapping;
    for (const double tokens : {1.0, 1000.0, 8192.0}) {
      INFO(c.deployment << " " << tokens);
      const Transfer transfer = kv_transfer(v, tokens);
      const base::Bytes cache =
          models::cache_bytes(tokens, *v.model, *v.precision, to, v.serving->stack.kv_block_tokens);
      CHECK(transfer.received.si() == Approx(cache.si()));
      CHECK((transfer.sent * holders(v.pools->prefill.mapping)).si() ==
            Approx((transfer.received * holders(to)).si()));
      const hardware::FabricLevel& up = v.platform->system.scale_up;
      const base::Bytes most = base::max(transfer.sent, transfer.received);
      CHECK(transfer.time >= most / up.bandwidth);  // of the datasheet
      CHECK(kv_transfer(v, 2.0 * tokens).time >= transfer.time);
    }
  }
}

TEST_CASE("A faster fabric between the pools shows the first token no later", "[laws]") {
  StreamedScenario s = scenario(kCases[0], kOpen);
  const base::Seconds before = summarise(run(s), 0, {}).ttft.mean;
  Platform& platform = s.scenario.platform;
  platform.system.scale_out->bandwidth = 1e6 * platform.system.scale_out->bandwidth;
  platform.machine = models::machine_of(platform.system);
  const base::Seconds after = summarise(run(s), 0, {}).ttft.mean;
  CHECK(after < before);
}

TEST_CASE("Answers are not slowed by prompts of a pool of their own", "[laws]") {
  const Case apart{"h200_cluster_128", "llama-3.1-70b",
                   "{prefill: {tensor_parallel: 8}, decode: {tensor_parallel: 8}}",
                   "{stack: vllm}"};
  const Case together{"h200_cluster_128", "llama-3.1-70b", "{tensor_parallel: 8}", "{stack: vllm}"};
  const char* traffic = "{input_tokens: 4000, output_tokens: 200, concurrency: 16}";
  Workspace workspace;
  const auto tpot = [&](const Case& c) {
    const StreamedScenario s = scenario(c, traffic);
    return estimate(view(s.scenario), workspace).steady.tpot;
  };
  CHECK(tpot(apart) < tpot(together));
  CHECK(summarise(run(scenario(apart, traffic)), 0, {}).tpot.mean <
        summarise(run(scenario(together, traffic)), 0, {}).tpot.mean);
}

TEST_CASE("An estimate of two pools keeps Little's law and counts the GPUs of both", "[laws]") {
  Workspace workspace;
  for (const Case& c : kCases) {
    for (const int clients : {1, 8, 64, 512}) {
      const StreamedScenario s = scenario(
          c,
          "{input_tokens: 2000, output_tokens: 200, concurrency: " + std::to_string(clients) + "}");
      const ServingEstimate e = estimate(view(s.scenario), workspace);
      INFO(c.deployment << " " << clients);
      REQUIRE(e.fits());
      CHECK(e.gpus == s.scenario.deployment.pools->prefill.ranks() +
                          s.scenario.deployment.pools->decode.ranks());
      CHECK(e.steady.requests_per_second * e.steady.end_to_end.si() ==
            Approx(clients).epsilon(0.02));
      CHECK(e.steady.ttft_p50 <= e.steady.ttft_tail.p95);
    }
  }
}

// More prompts at once can preempt more of a full decode pool: up to 0.5 % was found.
TEST_CASE("More workers of either pool serve no fewer requests", "[laws]") {
  Workspace workspace;
  for (const Case& c : kCases) {
    StreamedScenario s = scenario(c, "{input_tokens: 2000, output_tokens: 200, concurrency: 256}");
    const double before = estimate(view(s.scenario), workspace).steady.requests_per_second;
    for (workloads::Pool* pool :
         {&s.scenario.deployment.pools->prefill, &s.scenario.deployment.pools->decode}) {
      const std::int64_t replicas = pool->replicas;
      pool->replicas = 2 * replicas;
      INFO(c.deployment);
      CHECK(estimate(view(s.scenario), workspace).steady.requests_per_second >= 0.99 * before);
      pool->replicas = replicas;
    }
  }
}

TEST_CASE("One client alone meets the same times in an estimate and in a simulation", "[laws]") {
  Workspace workspace;
  for (const Case& c : kCases) {
    const StreamedScenario s =
        scenario(c, "{input_tokens: 2000, output_tokens: 200, concurrency: 1, requests: 20}");
    INFO(c.deployment);
    const ServingEstimate e = estimate(view(s.scenario), workspace);
    const SimulationSummary summary = summarise(run(s), 0, {});
    CHECK(e.steady.ttft_mean.si() == Approx(summary.ttft.mean.si()).epsilon(0.02));
    CHECK(e.steady.tpot.si() == Approx(summary.tpot.mean.si()).epsilon(0.02));
  }
}

TEST_CASE("An estimate of two pools that are not full is within a tenth of their simulation",
          "[laws]") {
  Workspace workspace;
  int compared = 0;
  for (const Case& c : kCases) {
    for (const int clients : {4, 16, 64}) {
      const std::string loop = ", concurrency: " + std::to_string(clients) +
                               ", requests: " + std::to_string(30 * clients) + "}";
      const StreamedScenario mean = scenario(c, "{input_tokens: 1500, output_tokens: 300" + loop);
      const ServingEstimate e = estimate(view(mean.scenario), workspace);
      StreamedScenario s = scenario(
          c, "{input_tokens: {uniform: [1200, 1800]}, output_tokens: {uniform: [150, 450]}" + loop);
      REQUIRE(e.fits());
      if (e.steady.ttft_mean > 0.4 * e.steady.end_to_end) {
        continue;  // a pool is full
      }
      ++compared;
      INFO(c.deployment << " " << c.serving << " " << clients);
      const Simulation run_of = run(s);
      const SimulationSummary summary =
          summarise(run_of, static_cast<std::size_t>(8 * clients), {});
      CHECK(e.steady.tpot.si() == Approx(summary.tpot.mean.si()).epsilon(0.08));
      CHECK(e.steady.end_to_end.si() == Approx(summary.end_to_end.mean.si()).epsilon(0.1));
    }
  }
  CHECK(compared >= 10);
}

TEST_CASE("A sweep's axis reaches into a pool", "[laws]") {
  const SweepPoints points(read_sweep(base::parse_document(
      "sweep",
      "base:\n  system: h200_cluster_128\n  model: llama-3.1-70b\n  precision: fp8\n"
      "  deployment: {prefill: {tensor_parallel: 4}, decode: {tensor_parallel: 8}}\n"
      "  serving: {stack: vllm}\n"
      "  traffic: {input_tokens: 8000, output_tokens: 100, concurrency: 64}\n"
      "axes: {deployment.prefill.replicas: [1, 2, 4]}\n")));
  const std::vector<ServingEstimate> estimates = sweep_estimates(points, 1);
  REQUIRE(estimates.size() == 3);
  for (std::size_t i = 1; i < 3; ++i) {
    CHECK(estimates[i].gpus > estimates[i - 1].gpus);
    CHECK(estimates[i].output_rate > 1.5 * estimates[i - 1].output_rate);
  }
}

}  // namespace roofcast::sim::laws_disaggregation
