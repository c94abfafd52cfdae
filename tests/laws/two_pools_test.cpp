// SPDX-License-Identifier: Apache-2.0
//
// Forecasts of two pools: arrivals, percentiles, speculative decoding, and pools on unlike systems.
#include <cmath>
#include <string>
#include <vector>

#include "sim/estimate.hpp"
#include "sim/replay/simulation_summary.hpp"
#include "sim/result/costs.hpp"
#include "sim/scenario/knob.hpp"
#include "sim/scenario/pools.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"
#include "tests/laws/cases/simulations.hpp"

namespace roofcast::sim::laws_two_pools {
namespace {

constexpr const char* kFixed = "{input_tokens: 2000, output_tokens: 200, concurrency: 32}";
constexpr const char* kDrawn =
    "{input_tokens: {uniform: [1000, 3000]}, output_tokens: {lognormal: {mean: 200, cv: 0.7, max: "
    "2000}}, concurrency: 32, requests: 3000}";
constexpr const char* kUnlike =
    "{input_tokens: {uniform: [500, 1800]}, output_tokens: {lognormal: {mean: 217, cv: 3, max: "
    "4000}}, concurrency: 150, requests: 6000}";
std::string poisson(double rate) {
  return "{input_tokens: {lognormal: {mean: 2000, cv: 0.5, max: 12000}}, output_tokens: {uniform: "
         "[100, 300]}, arrivals: {process: poisson, rate: " +
         std::to_string(rate) + " /s}, requests: 4000}";
}

std::string document(const std::string& prefill, const std::string& decode,
                     const std::string& traffic, const std::string& serving = "{stack: vllm}") {
  return "system: h200_cluster_128\nmodel: llama-3.1-70b\nprecision: fp8\ndeployment:\n"
         "  prefill: {tensor_parallel: 4" +
         prefill + "}\n  decode: {tensor_parallel: 8" + decode + "}\nserving: " + serving +
         "\ntraffic: " + traffic + "\n";
}

Scenario scenario(const std::string& text, const std::vector<std::string>& set = {}) {
  base::Node node = base::parse_document("test", text);
  base::Problems problems;
  for (const std::string& assignment : set) {
    set_knob(node, {"--set", assignment, {}}, problems);
  }
  problems.throw_if_any();
  return read_scenario(std::move(node));
}

ServingEstimate estimated(const Scenario& s) {
  Workspace workspace;
  return estimate(view(s), workspace);
}
ServingEstimate estimated(const std::string& text, const std::vector<std::string>& set = {}) {
  return estimated(scenario(text, set));
}

void check_bounds(const ServingEstimate& e) {
  const SteadyState& r = e.steady;
  CHECK(r.ttft_p50 <= r.ttft_tail.p95);
  CHECK(r.ttft_tail.p95 <= r.ttft_tail.p99);
  CHECK(r.tpot_tail.p95 <= r.tpot_tail.p99);
  CHECK(r.tpot <= r.tpot_tail.p99);
  CHECK(r.ttft_p50.si() > 0.0);
  CHECK(std::isfinite(r.ttft_tail.p99.si()));
  CHECK(std::isfinite(r.tpot_tail.p99.si()));
  CHECK(e.memory <= e.footprint.limit);
}

}  // namespace

TEST_CASE("A handover delays first tokens of two pools by as much, and those of one pool not",
          "[laws]") {
  constexpr base::Seconds kHandover = 300.0 * base::millisecond;
  const auto served = [](const char* time) {
    return "{stack: {base: sglang, overhead: {per_handover: " + std::string(time) + "}}}";
  };
  const auto two = [&](const char* time) {
    return scenario(document("", "", poisson(0.5), served(time)));
  };
  const Scenario none = two("0 s");
  const Scenario some = two("300 ms");
  const SteadyState before = estimated(none).steady;
  const SteadyState after = estimated(some).steady;
  CHECK((after.ttft_mean - before.ttft_mean) / kHandover == Approx(1.0).epsilon(0.02));
  CHECK((after.end_to_end - before.end_to_end) / kHandover == Approx(1.0).epsilon(0.02));
  CHECK(after.tpot / before.tpot == Approx(1.0).epsilon(0.01));
  const auto simulated = [&](const char* time) {
    const StreamedScenario s = read_streamed_scenario(
        base::parse_document("test", document("", "", poisson(0.5), served(time))));
    return summarise(laws::run(s), 500, {}).ttft.mean;
  };
  CHECK((simulated("300 ms") - simulated("0 s")) / kHandover == Approx(1.0).epsilon(0.02));
  const auto one = [&](const char* time) {
    return estimated(
        "system: hgx_h200\nmodel: llama-3.1-70b\nprecision: fp8\n"
        "deployment: {tensor_parallel: 8}\nserving: " +
        served(time) + "\ntraffic: " + poisson(0.5) + "\n");
  };
  CHECK(one("0 s").steady.ttft_mean == one("300 ms").steady.ttft_mean);
}

TEST_CASE("A pool that names the scenario's system is where it was", "[laws]") {
  for (const std::string& traffic : {std::string(kFixed), std::string(kDrawn), poisson(4.0)}) {
    const ServingEstimate left_out = estimated(document("", "", traffic));
    const ServingEstimate named =
        estimated(document(", system: h200_cluster_128", ", system: h200_cluster_128", traffic));
    CHECK(named.steady.ttft_mean.si() == left_out.steady.ttft_mean.si());
    CHECK(named.steady.tpot.si() == left_out.steady.tpot.si());
    CHECK(named.steady.power.si() == left_out.steady.power.si());
    CHECK(named.usd_per_mtok == left_out.usd_per_mtok);
    CHECK(named.gpus == left_out.gpus);
  }
}

TEST_CASE("A faster system of one pool speeds up what that pool computes", "[laws]") {
  const ServingEstimate before = estimated(document("", "", poisson(4.0)));
  const ServingEstimate prefill =
      estimated(document("", "", poisson(4.0)), {"deployment.prefill.system.chip.tensor.*=x2"});
  CHECK(prefill.steady.ttft_mean < 0.8 * before.steady.ttft_mean);
  CHECK(prefill.steady.tpot.si() == Approx(before.steady.tpot.si()).epsilon(0.03));
  const ServingEstimate decode =
      estimated(document("", "", poisson(4.0)), {"deployment.decode.system.chip.hbm.bandwidth=x2"});
  CHECK(decode.steady.tpot < 0.9 * before.steady.tpot);
}

TEST_CASE("Pools on unlike systems pay each its own price and have no domain in common", "[laws]") {
  const std::string text = document(", system: h100_cluster_128", "", poisson(4.0));
  const Scenario unlike = scenario(text);
  const Scenario alike = scenario(document("", "", poisson(4.0)));
  const ServingEstimate e = estimated(unlike);
  REQUIRE(e.fits());
  const auto price = [](const char* system) {
    return scenario(document("", "", kFixed), {std::string("system=") + system})
        .platform.system.price->per_gpu.si();
  };
  CHECK(e.economics.usd_per_second ==
        Approx(4.0 * price("h100_cluster_128") + 8.0 * price("h200_cluster_128")));
  CHECK(kv_transfer(view(unlike), 2000.0).time >= kv_transfer(view(alike), 2000.0).time);
}

TEST_CASE("A pool that does not run says which one and why", "[laws]") {
  const auto why = [](const std::string& prefill, const std::string& decode,
                      const std::string& traffic) {
    return reason(estimated(document(prefill, decode, traffic)));
  };
  CHECK_THAT(why(", system: a100_cluster_128", "", kFixed),
             Catch::Matchers::ContainsSubstring("prefill"));
  CHECK_THAT(why("", ", replicas: 3, system: hgx_h200", kFixed),
             Catch::Matchers::ContainsSubstring("needs 24 GPUs"));
  CHECK_THAT(why("", ", system: h100_pcie_x8", kFixed),
             Catch::Matchers::ContainsSubstring("scale_out"));
  CHECK_THAT(why("", "", poisson(1e4)),
             Catch::Matchers::ContainsSubstring("prefill: 1e+04 requests arrive"));
}

TEST_CASE("Percentiles of two pools are ordered and finite up to saturation", "[laws]") {
  check_bounds(estimated(document("", "", kDrawn)));
  check_bounds(estimated(document("", "", kFixed)));
  const double most = estimated(document("", "", poisson(1.0))).steady.saturation;
  for (const double share : {0.05, 0.3, 0.6, 0.9, 0.99}) {
    const ServingEstimate e = estimated(document("", "", poisson(share * most)));
    INFO(share);
    REQUIRE(e.fits());
    check_bounds(e);
  }
  CHECK_FALSE(estimated(document("", "", poisson(1.01 * most))).fits());
}

TEST_CASE("Twice the prefill replicas never raise TTFT", "[laws]") {
  for (const double rate : {0.5, 4.0, 8.0}) {
    for (const int replicas : {1, 2, 4}) {
      const auto at = [&](int count) {
        return estimated(document(", replicas: " + std::to_string(count), "", poisson(rate)));
      };
      const ServingEstimate before = at(replicas);
      const ServingEstimate after = at(2 * replicas);
      if (before.fits()) {
        INFO(rate << " " << replicas << ": "
                  << after.steady.ttft_tail.p95.si() / before.steady.ttft_tail.p95.si());
        CHECK(after.steady.ttft_mean <= 1.0001 * before.steady.ttft_mean);
        // A request of the sample may meet another transfer.
        CHECK(after.steady.ttft_tail.p95 <= 1.001 * before.steady.ttft_tail.p95);
      }
    }
  }
}

TEST_CASE("More arrivals never make an answer of two pools faster", "[laws]") {
  base::Seconds ttft;
  base::Seconds tpot;
  for (const double rate : {0.1, 1.0, 2.0, 4.0, 6.0, 8.0}) {
    const ServingEstimate e = estimated(document("", "", poisson(rate)));
    if (!e.fits()) {
      break;
    }
    CHECK(e.steady.ttft_mean >= ttft);
    CHECK(e.steady.tpot >= 0.999 * tpot);
    ttft = e.steady.ttft_mean;
    tpot = e.steady.tpot;
  }
  CHECK(ttft.si() > 0.0);
}

TEST_CASE("Drafts that are accepted speed up the decode pool, and only that", "[laws]") {
  const std::string drafts =
      "{stack: vllm, speculative: {method: ngram, draft_tokens: 3, acceptance: 0.8}}";
  const ServingEstimate plain = estimated(document("", "", poisson(2.0)));
  const ServingEstimate drafted = estimated(document("", "", poisson(2.0), drafts));
  REQUIRE(drafted.fits());
  CHECK(drafted.steady.tokens_per_iteration > 2.0);
  CHECK(drafted.steady.tpot < 0.6 * plain.steady.tpot);
  CHECK(drafted.steady.ttft_mean.si() == Approx(plain.steady.ttft_mean.si()).epsilon(0.05));
}

TEST_CASE("An estimate of two pools agrees with their simulation", "[laws]") {
  struct Case {
    std::string prefill;
    std::string decode;
    std::string traffic;
    std::string serving;
  };
  const std::string drafts =
      "{stack: vllm, speculative: {method: ngram, draft_tokens: 3, acceptance: 0.7}}";
  for (const Case& c :
       {Case{"", "", poisson(4.0), "{stack: vllm}"}, Case{"", "", poisson(7.0), "{stack: sglang}"},
        Case{", replicas: 2", ", replicas: 2", poisson(10.0), "{stack: vllm}"},
        Case{", system: h100_cluster_128", "", poisson(5.0), "{stack: vllm}"},
        Case{"", "", poisson(4.0), drafts}, Case{"", "", kDrawn, "{stack: vllm}"},
        Case{"", "", kUnlike, "{stack: vllm}"},
        Case{", replicas: 3", ", replicas: 2", kDrawn, "{stack: sglang}"}}) {
    const StreamedScenario s = read_streamed_scenario(
        base::parse_document("test", document(c.prefill, c.decode, c.traffic, c.serving)));
    const ServingEstimate e = estimated(s.scenario);
    INFO(c.prefill << " " << c.decode << " " << c.traffic << " " << c.serving);
    REQUIRE(e.fits());
    const SimulationSummary summary = summarise(laws::run(s), 500, {});
    CHECK(e.steady.ttft_mean.si() == Approx(summary.ttft.mean.si()).epsilon(0.1));
    CHECK(e.steady.tpot.si() == Approx(summary.tpot.mean.si()).epsilon(0.1));
    CHECK(e.steady.ttft_tail.p95.si() == Approx(summary.ttft.p95.si()).epsilon(0.15));
    CHECK(e.steady.tpot_tail.p95.si() == Approx(summary.tpot.p95.si()).epsilon(0.15));
  }
}

// 257 sequences or more would decode in a padded batch of 512, and last as long as keeps them that many. From the start of
// a replay on, prompts come one after the other: no more than 194 decode.
TEST_CASE("Clients of two pools reach the batch of their simulation, where a larger one would last",
          "[laws]") {
  for (const int clients : {300, 350, 900}) {
    const StreamedScenario s = read_streamed_scenario(base::parse_document(
        "test", document(", replicas: 2", ", max_sequences: 512",
                         "{input_tokens: 2048, output_tokens: 512, concurrency: " +
                             std::to_string(clients) +
                             ", requests: " + std::to_string(8 * clients) + "}")));
    const ServingEstimate e = estimated(s.scenario);
    INFO(clients << " clients");
    const SimulationSummary summary =
        summarise(laws::run(s), static_cast<std::size_t>(3 * clients), {});
    CHECK(e.steady.ttft_mean.si() == Approx(summary.ttft.mean.si()).epsilon(0.05));
    CHECK(e.steady.tpot.si() == Approx(summary.tpot.p50.si()).epsilon(0.05));
  }
}

TEST_CASE("A lone client has the TPOT of one pool at two pools, with drafts", "[laws]") {
  for (const int drafts : {0, 1, 4}) {
    INFO(drafts << " drafts");
    const std::string serving =
        drafts == 0
            ? "{stack: vllm}"
            : "{stack: vllm, speculative: {method: ngram, draft_tokens: " + std::to_string(drafts) +
                  ", acceptance: 0.8}}";
    const std::string traffic =
        "{input_tokens: 200, output_tokens: 6, concurrency: 1, requests: 200}";
    const auto tpot = [&](const std::string& text) {
      const StreamedScenario s = read_streamed_scenario(base::parse_document("test", text));
      return summarise(laws::run(s), 10, {}).tpot.mean.si();
    };
    const double apart = tpot(
        "system: h200_cluster_128\nmodel: llama-3.1-70b\nprecision: fp8\ndeployment:\n"
        "  prefill: {tensor_parallel: 8}\n  decode: {tensor_parallel: 8}\nserving: " +
        serving + "\ntraffic: " + traffic + "\n");
    const double together = tpot(
        "system: h200_cluster_128\nmodel: llama-3.1-70b\nprecision: fp8\n"
        "deployment: {tensor_parallel: 8}\nserving: " +
        serving + "\ntraffic: " + traffic + "\n");
    // The KV cache is sent between the first token and the second.
    CHECK(apart / together == Approx(1.0).margin(0.1));
  }
}

}  // namespace roofcast::sim::laws_two_pools
