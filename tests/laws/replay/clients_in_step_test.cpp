// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "sim/estimate.hpp"
#include "sim/replay/simulation_summary.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"
#include "tests/laws/cases/simulations.hpp"

namespace roofcast::sim::laws_replay_clients_in_step {
namespace {

// Llama-3.1-70B in FP8, if it is no other. Eight rounds of all clients. The first two are the burst and what comes of
// it; in the last no prompts come, so medians are compared.
struct Both {
  Both(const std::string& stack, std::int64_t clients, std::int64_t input, std::int64_t output,
       const std::string& system = "hgx_h200", int gpus = 8,
       const std::string& model = "llama-3.1-70b") {
    const StreamedScenario s = read_streamed_scenario(base::parse_document(
        "test",
        fmt::format("system: {}\nmodel: {}\nprecision: fp8\ndeployment: "
                    "{{tensor_parallel: {}}}\nserving: {{stack: {}}}\ntraffic: "
                    "{{input_tokens: {}, output_tokens: {}, concurrency: {}, requests: {}}}\n",
                    system, model, gpus, stack, input, output, clients, 8 * clients)));
    Workspace workspace;
    estimated = estimate(view(s.scenario), workspace).steady;
    simulated = summarise(laws::run(s), static_cast<std::size_t>(2 * clients), {});
  }

  SteadyState estimated;
  SimulationSummary simulated;
};

}  // namespace

// Budgets hold 8,192 tokens: 2.0, 1.6, 1.0 and 0.8 prompts.
TEST_CASE("Clients in step pay for the part of an iteration that their prompts fill", "[laws]") {
  for (const std::int64_t input : {4096, 5120, 8192, 10240}) {
    for (const std::int64_t clients : {1, 32, 96, 256}) {
      const Both both("vllm", clients, input, 384);
      INFO(input << " tokens, " << clients << " clients");
      CHECK(both.estimated.tpot / both.simulated.tpot.p50 == Approx(1.0).margin(0.08));
      if (input <
          8000) {  // beyond, a prompt hardly misses an iteration: TTFT is up to 2.2 times too long
        CHECK(both.estimated.ttft_p50 / both.simulated.ttft.p50 == Approx(1.0).margin(0.25));
      }
    }
  }
}

// At most 212 sequences begin together, 114 end. The mean length would promise 20 % more.
TEST_CASE("Clients in step that fill the KV cache lose what preemption takes", "[laws]") {
  for (const std::int64_t clients : {64, 128, 192, 384}) {
    const Both both("vllm", clients, 2048, 1920, "hgx_h100", 2);
    INFO(clients << " clients, " << both.simulated.preemptions << " preemptions");
    CHECK((both.simulated.preemptions > 0) == (clients > 64));
    CHECK(both.estimated.end_to_end / both.simulated.end_to_end.mean == Approx(1.0).margin(0.12));
    CHECK(both.estimated.tpot / both.simulated.tpot.mean == Approx(1.0).margin(0.12));
  }
}

TEST_CASE("A prompt that is not cut and fills the budget runs alone", "[laws]") {
  const Both both("trtllm", 8, 8192, 64);
  CHECK(both.estimated.decode_batch < 1.0);
  CHECK(both.estimated.tpot / both.simulated.tpot.p50 == Approx(1.0).margin(0.02));
  CHECK(both.estimated.ttft_p50 / both.simulated.ttft.p50 == Approx(1.0).margin(0.02));
}

TEST_CASE("Clients in step see times that add up, also where the front end sets the rate",
          "[laws]") {
  const std::int64_t output = 384;
  const Both both("trtllm", 2048, 512, output);
  const SteadyState& r = both.estimated;
  CHECK(r.throughput_limit == Limit::host);
  CHECK((r.ttft_mean + static_cast<double>(output - 1) * r.tpot) / r.end_to_end ==
        Approx(1.0).margin(0.02));
}

TEST_CASE("Clients that the front end holds up have the times of their simulation", "[laws]") {
  for (const std::int64_t clients : {128, 256, 512}) {
    const Both both("trtllm", clients, 128, 64, "gb200_nvl72");
    INFO(clients << " clients");
    CHECK(both.estimated.throughput_limit == Limit::host);
    CHECK(both.estimated.tpot / both.simulated.tpot.mean == Approx(1.0).margin(0.08));
    CHECK(both.estimated.ttft_mean / both.simulated.ttft.mean == Approx(1.0).margin(0.08));
  }
}

// Scenario 35 of seed 2 of `calibrate validate simulation --check-only`. The host launches an iteration with prompts as fast as
// its GPUs run one with all clients, so few decodes make it no shorter: five prompts come in one, not four.
TEST_CASE("Clients in step whose prompts wait for launches are no slower with a higher clock",
          "[laws]") {
  base::Seconds before = base::Seconds::infinity();
  for (const char* clock : {"1.77", "1.965", "2.16"}) {
    const StreamedScenario s = read_streamed_scenario(base::parse_document(
        "test",
        fmt::format("system: {{base: hgx_b200, chip: {{base: b200_sxm, compute: {{clock: "
                    "{} GHz}}}}}}\nmodel: mixtral-8x7b\nprecision: bf16\nserving: {{stack: "
                    "trtllm}}\ndeployment: {{tensor_parallel: 8}}\ntraffic: {{input_tokens: "
                    "245, output_tokens: 60, concurrency: 23, requests: 500}}\n",
                    clock)));
    Workspace workspace;
    const SteadyState r = estimate(view(s.scenario), workspace).steady;
    INFO(clock);
    CHECK(r.end_to_end / summarise(laws::run(s), 100, {}).end_to_end.mean ==
          Approx(1.0).margin(0.005));
    CHECK(r.end_to_end <= before);
    before = r.end_to_end;
  }
}

// The front end is 58 to 83 % busy. It has messages of ended iterations to send before it takes in the next prompts.
TEST_CASE("Clients wait for the messages that the front end still has to send", "[laws]") {
  for (const std::int64_t clients : {128, 256, 512}) {
    const Both both("trtllm", clients, 1024, 512);
    INFO(clients << " clients");
    CHECK(both.estimated.ttft_p50 / both.simulated.ttft.p50 == Approx(1.0).margin(0.05));
    CHECK(both.estimated.ttft_tail.p95 / both.simulated.ttft.p95 == Approx(1.0).margin(0.05));
  }
}

// All clients are followed: one of k has 1/k of the iterations in which the front end falls behind.
TEST_CASE("The front end falls as far behind with answers of all their lengths", "[laws]") {
  const Both both("trtllm", 128, 2048, 1024, "hgx_h200", 1, "llama-3.1-8b");
  CHECK(both.estimated.ttft_p50 / both.simulated.ttft.p50 == Approx(1.0).margin(0.05));
  CHECK(both.estimated.ttft_tail.p95 / both.simulated.ttft.p95 == Approx(1.0).margin(0.05));
}

}  // namespace roofcast::sim::laws_replay_clients_in_step
