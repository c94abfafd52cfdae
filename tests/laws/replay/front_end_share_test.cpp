// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "sim/estimate.hpp"
#include "sim/result/causes.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"
#include "tests/laws/cases/simulations.hpp"

namespace roofcast::sim::laws_replay_front_end_share {
namespace {

struct Case {
  const char* model;  // and its precision
  const char* system;
  int gpus;
  const char* stack;
  std::int64_t input;
  std::int64_t output;
  std::int64_t clients;
};

StreamedScenario scenario(const Case& c) {
  return read_streamed_scenario(base::parse_document(
      "test",
      fmt::format("system: {}\nmodel: {}\ndeployment: {{tensor_parallel: {}}}\nserving: {{stack: "
                  "{}}}\ntraffic: {{input_tokens: {}, output_tokens: {}, concurrency: {}, "
                  "requests: {}}}\n",
                  c.system, c.model, c.gpus, c.stack, c.input, c.output, c.clients,
                  8 * c.clients)));
}

// Shares of the mean TTFT of a replay without its first rounds and its last.
struct Replayed {
  explicit Replayed(const StreamedScenario& s, std::int64_t clients) {
    const Simulation simulation = laws::run(s);
    const auto round = static_cast<std::size_t>(clients);
    base::Seconds intake;
    base::Seconds waits;
    base::Seconds ttft;
    for (std::size_t i = 3 * round; i < 7 * round; ++i) {
      const ServedRequest& r = simulation.requests[i];
      intake += r.queued - r.arrival;
      waits += r.scheduled - r.queued;
      ttft += r.first_token - r.arrival;
    }
    least = intake / ttft;
    most = 1.0 - waits / ttft;
  }

  double least;  // before the scheduler
  double most;   // the same, and all from the first iteration to the client
};

}  // namespace

TEST_CASE("A TTFT that the front end has most of is limited by the host, with its share",
          "[laws]") {
  for (const Case& c :
       {Case{"qwen3-30b-a3b\nprecision: fp8", "gb200_nvl72", 4, "trtllm", 4096, 512, 96},
        Case{"llama-3.1-8b\nprecision: fp8", "hgx_h100", 1, "trtllm", 128, 128, 256}}) {
    INFO(c.model << ", " << c.clients << " clients");
    const StreamedScenario s = scenario(c);
    Workspace workspace;
    ServingEstimate e = estimate(view(s.scenario), workspace);
    tell_causes(view(s.scenario), e);
    const Limited ttft = limited(e, "ttft_mean_s");
    const Replayed replayed(s, c.clients);
    CHECK(ttft.by == "host");
    CHECK(ttft.share > replayed.least - 0.05);
    CHECK(ttft.share < replayed.most + 0.05);
  }
}

}  // namespace roofcast::sim::laws_replay_front_end_share
