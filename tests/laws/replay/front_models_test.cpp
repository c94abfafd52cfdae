// SPDX-License-Identifier: Apache-2.0
//
// Models that read before prompts: what must hold of estimates and simulations with them.
#include "sim/iteration/front_models.hpp"

#include <fmt/format.h>

#include <string>

#include "sim/estimate.hpp"
#include "sim/replay/simulation_summary.hpp"
#include "sim/replay/task_summary.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"
#include "tests/laws/cases/simulations.hpp"

namespace roofcast::sim::laws_replay_front_models {
namespace {

const std::string kReranker = ", reranker: {model: bge-m3, tokens: 544, sequences: 50";

// Questions that arrive, so many a second. `more` begins with a comma.
StreamedScenario retrieval(double rate, const std::string& more, const std::string& serving = "") {
  return read_streamed_scenario(base::parse_document(
      "test",
      fmt::format(
          "system: hgx_h200\nmodel: llama-3.1-8b\nprecision: fp8\n"
          "deployment: {{tensor_parallel: 1}}\nserving: {{stack: vllm{}}}\n"
          "traffic: {{seed: 5, agents: {{arrivals: {{process: poisson, rate: {} /s}}, tasks: "
          "16000, "
          "turns: 1, initial_context: {{lognormal: {{mean: 4000, cv: 0.3, max: 12000}}}}, "
          "shared_context: 500, output_tokens: {{lognormal: {{mean: 200, cv: 0.6, max: 1500}}}}{}"
          "}}}}\n",
          serving, rate, more)));
}

// Of people who ask again after they have read.
StreamedScenario people(int concurrent, const std::string& more) {
  return read_streamed_scenario(base::parse_document(
      "test",
      fmt::format("system: hgx_h200\nmodel: llama-3.1-8b\nprecision: fp8\n"
                  "deployment: {{tensor_parallel: 1}}\nserving: {{stack: vllm}}\n"
                  "traffic: {{seed: 5, agents: {{concurrent: {}, tasks: {}, think: {{time: 5 s, "
                  "cv: 1}}, turns: 1, initial_context: 4000, output_tokens: 200{}}}}}\n",
                  concurrent, 40 * concurrent, more)));
}

ServingEstimate estimated(const StreamedScenario& s) {
  Workspace workspace;
  return estimate(view(s.scenario), workspace);
}

base::Seconds pass_of(const StreamedScenario& s) {
  return front_models_of(view(s.scenario)).stages.back().service.time;
}

}  // namespace

TEST_CASE("A reranker with GPUs of its own is a stage of the time of its pass", "[laws]") {
  const StreamedScenario model = retrieval(4.0, kReranker + ", servers: 2}");
  const base::Seconds pass = pass_of(model);
  CHECK(pass > base::millisecond);
  const StreamedScenario stage =
      retrieval(4.0, fmt::format(", stages: [{{time: {:.17g} s, servers: 2}}]", pass.si()));
  CHECK(estimated(model).steady.ttft_mean.si() ==
        Approx(estimated(stage).steady.ttft_mean.si()).epsilon(1e-9));
  const auto ttft = [](const StreamedScenario& s) {
    return summarise(laws::run(s), 400, {}).ttft.mean.si();
  };
  CHECK(ttft(model) == Approx(ttft(stage)).epsilon(1e-9));
}

TEST_CASE("A reranker that its GPU cannot hold, or that its chip cannot compute, does not run",
          "[laws]") {
  const std::string large = ", reranker: {model: llama-3.1-405b, tokens: 544, servers: 1}";
  const std::string narrow = kReranker + ", precision: nvfp4}";
  for (const std::string& more : {large, narrow}) {
    const StreamedScenario s = retrieval(1.0, more);
    const ServingEstimate e = estimated(s);
    CHECK_FALSE(e.fits());
    CHECK(laws::run(s).reason == reason(e));
  }
}

TEST_CASE("A reranker on the GPUs of the model takes its weights from the KV cache", "[laws]") {
  const StreamedScenario beside = retrieval(1.0, kReranker + "}");
  const ServingEstimate with = estimated(beside);
  const ServingEstimate without = estimated(retrieval(1.0, kReranker + ", servers: 1}"));
  const base::Bytes weights = front_models_of(view(beside.scenario)).weights;
  CHECK(weights.si() > 0.9e9);  // half a billion parameters in 16 bits
  CHECK((with.footprint.weights - without.footprint.weights).si() == Approx(weights.si()));
  CHECK((without.footprint.cache - with.footprint.cache).si() == Approx(weights.si()));
}

TEST_CASE("Passes on the GPUs of the model take the time of so many requests", "[laws]") {
  const StreamedScenario beside = retrieval(100.0, kReranker + "}");
  const ServingEstimate full = estimated(beside);
  const ServingEstimate free = estimated(retrieval(100.0, ""));
  CHECK_FALSE(full.fits());
  CHECK_FALSE(free.fits());
  const double more = 1.0 / full.steady.saturation - 1.0 / free.steady.saturation;
  CHECK(more == Approx(pass_of(beside).si()).epsilon(0.05));
}

TEST_CASE("Closed forms with a reranker on the GPUs of the model are those of its simulation",
          "[laws]") {
  const std::string embedder = ", embedder: {model: bge-m3, tokens: 32}";
  const std::string search = ", stages: [{time: 20 ms, servers: 2}]";
  for (const std::string& more : {kReranker + "}", embedder + search + kReranker + "}"}) {
    const double most = estimated(retrieval(100.0, more)).steady.saturation;
    for (const double load : {0.2, 0.5, 0.75}) {
      const StreamedScenario s = retrieval(load * most, more);
      INFO(fmt::format("{} at {:.3g} of its load", more, load));
      const ServingEstimate e = estimated(s);
      REQUIRE(e.fits());
      const SimulationSummary simulated = summarise(laws::run(s), 400, {});
      CHECK(e.steady.ttft_mean.si() == Approx(simulated.ttft.mean.si()).epsilon(0.10));
      CHECK(e.steady.tpot.si() == Approx(simulated.tpot.mean.si()).epsilon(0.12));
      CHECK(e.steady.ttft_tail.p95.si() == Approx(simulated.ttft.p95.si()).epsilon(0.15));
    }
  }
  for (const int concurrent : {4, 32}) {
    const StreamedScenario s = people(concurrent, embedder + search + kReranker + "}");
    INFO(concurrent);
    const ServingEstimate e = estimated(s);
    const Simulation simulation = laws::run(s);
    const auto clients = static_cast<std::size_t>(concurrent);
    CHECK(e.steady.ttft_mean.si() ==
          Approx(summarise(simulation, 10 * clients, {}).ttft.mean.si()).epsilon(0.10));
    CHECK(e.task.mean.si() ==
          Approx(summarise_tasks(simulation, 10 * clients, clients).time.mean.si()).epsilon(0.05));
  }
}

}  // namespace roofcast::sim::laws_replay_front_models
