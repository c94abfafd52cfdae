// SPDX-License-Identifier: Apache-2.0
//
// The published figures of calibrate/claims, and the page that tells how far they are met.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "calibrate/accuracy/claims.hpp"
#include "cli/pages/claims_page.hpp"
#include "tests/catch.hpp"

namespace roofcast::validation_claims {

namespace {

calibrate::Claims parsed(const std::string& claims) {
  return calibrate::read_claims(
      base::parse_document("test",
                           "section: 1\n"
                           "title: A test\n"
                           "source: nobody\n"
                           "loads:\n"
                           "  one:\n"
                           "    base:\n"
                           "      system: hgx_h200\n"
                           "      model: llama-3.1-8b\n"
                           "      precision: fp8\n"
                           "      deployment: {tensor_parallel: 1}\n"
                           "      serving: {stack: vllm}\n"
                           "      traffic: {input_tokens: 1024, "
                           "output_tokens: 128, concurrency: 8}\n"
                           "    metric: tpot_mean_s\n"
                           "  run:\n"
                           "    base:\n"
                           "      system: hgx_h200\n"
                           "      model: llama-3.1-8b\n"
                           "      precision: fp8\n"
                           "      deployment: {tensor_parallel: 1}\n"
                           "      serving: {stack: vllm, max_sequences: 8}\n"
                           "      traffic: {input_tokens: 1024, "
                           "output_tokens: {uniform: [28, 228]}, "
                           "concurrency: 8}\n"
                           "    metric: throughput_tok_per_s_per_gpu\n"
                           "    whole_run: true\n"
                           "claims:\n" +
                               claims));
}

calibrate::Computed only(const std::string& claim) {
  const calibrate::Claims claims = parsed("  - " + claim);
  REQUIRE(claims.claims.size() == 1);
  return calibrate::compute(claims.claims.front());
}

}  // namespace

TEST_CASE("A published figure that is missed by more than 20 % has a reason, and no other has",
          "[validation]") {
  std::size_t figures = 0;
  for (const std::string& id : base::catalog_ids(calibrate::claim_catalog())) {
    const auto claims = calibrate::read_claims(base::load_entry(calibrate::claim_catalog(), id));
    for (const calibrate::Claim& claim : claims.claims) {
      const calibrate::Computed ours = calibrate::compute(claim);
      INFO(id << ": " << claim.claim << "; " << claim.conditions << ": " << ours.value << " "
              << claim.unit << ", published " << claim.least << " (" << 100.0 * ours.difference
              << " %) " << ours.how);
      REQUIRE(std::isfinite(ours.value));
      CHECK((std::abs(ours.difference) > calibrate::kExplained) == !claim.reason.empty());
      ++figures;
    }
  }
  CHECK(figures > 100);
}

TEST_CASE("GPUs of MLPerf's clusters scale within two points of the logs, and train as long",
          "[validation]") {
  std::size_t rates = 0;
  std::size_t times = 0;
  for (const calibrate::Claim& claim :
       calibrate::read_claims(base::load_entry(calibrate::claim_catalog(), "training_runs"))
           .claims) {
    const bool rate = claim.claim.find("rate of a GPU over that on 512") != std::string::npos;
    const bool time = claim.claim.find("Time to train") != std::string::npos;
    if (rate || time) {
      const calibrate::Computed ours = calibrate::compute(claim);
      INFO(claim.claim << ": " << ours.value << ", published " << claim.least);
      CHECK(std::abs(ours.value - claim.least) < (rate ? 0.02 : 0.03 * claim.least));
      rates += rate ? 1 : 0;
      times += time ? 1 : 0;
    }
  }
  CHECK(rates == 3);
  CHECK(times == 2);
}

TEST_CASE("Llama of MLPerf Inference Offline is met within 10 %, all models within intervals",
          "[validation]") {
  std::size_t results = 0;
  for (const calibrate::Claim& claim :
       calibrate::read_claims(base::load_entry(calibrate::claim_catalog(), "mlperf_offline"))
           .claims) {
    const bool llama = claim.claim.starts_with("Llama-");
    const bool calibrated = claim.claim.ends_with("H100") || claim.claim.ends_with("H200") ||
                            claim.claim.ends_with("B200");
    const calibrate::Computed ours = calibrate::compute(claim);
    INFO(claim.claim << ": " << ours.value << ", submitted " << claim.least);
    CHECK(ours.low < claim.least);
    CHECK(ours.high > claim.least);
    if (llama && calibrated) {
      CHECK(std::abs(ours.difference) < 0.1);
      ++results;
    }
  }
  CHECK(results == 7);
}

TEST_CASE("A whole run is slower than its steady state, the more so the fewer its requests",
          "[validation]") {
  const auto rate = [](bool whole, int requests) {
    const std::string of = fmt::format(
        "  - {{claim: c, published: 1, unit: tok/s/GPU, ours: {{load: {}, metric: "
        "throughput_tok_per_s_per_gpu, set: {{traffic.requests: {}}}}}}}",
        whole ? "run" : "one", requests);
    const calibrate::Claims claims = parsed(of);
    return calibrate::compute(claims.claims.front());
  };
  const double steady = rate(false, 400).value;
  const calibrate::Computed run = rate(true, 400);
  CHECK(run.value < steady);
  CHECK(run.low < run.value);
  CHECK(run.value < run.high);
  CHECK(rate(true, 40).value < run.value);
}

TEST_CASE("MPT on 512 GPUs keeps what was published of the rate on 128, within two points",
          "[validation]") {
  std::size_t rates = 0;
  for (const calibrate::Claim& claim :
       calibrate::read_claims(base::load_entry(calibrate::claim_catalog(), "training_runs"))
           .claims) {
    if (claim.claim.starts_with("MPT-") &&
        claim.claim.find("rate of a GPU over that on 128") != std::string::npos) {
      const calibrate::Computed ours = calibrate::compute(claim);
      INFO(claim.claim << ": " << ours.value << ", published " << claim.least);
      CHECK(std::abs(ours.value - claim.least) < 0.02);
      ++rates;
    }
  }
  CHECK(rates == 6);
}

TEST_CASE("docs/workloads.md, docs/runs.md and docs/mlperf.md are what calibrate claims writes",
          "[validation]") {
  const char* source = std::getenv("ROOFCAST_SOURCE_DIR");
  if (source == nullptr) {
    WARN("ROOFCAST_SOURCE_DIR is not set; the pages are not looked at");
    return;
  }
  for (const auto& [name, page] : {std::pair{"workloads", calibrate::ClaimsPage::workloads},
                                   std::pair{"runs", calibrate::ClaimsPage::runs},
                                   std::pair{"mlperf", calibrate::ClaimsPage::mlperf}}) {
    std::ifstream in(fmt::format("{}/docs/{}.md", source, name));
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    INFO("roofcast calibrate claims --page " << name << " -o docs/" << name << ".md");
    CHECK((text == cli::claims_page(page)));
  }
}

TEST_CASE("A figure over the same figure is 1, and twice that over it 2", "[validation]") {
  CHECK(only("{claim: c, published: 1, unit: x, ours: {load: one}, over: {set: {}}}").value ==
        Approx(1.0));
  CHECK(only("{claim: c, published: 1, unit: x, ours: {load: one, times: 2}, over: {load: one}}")
            .value == Approx(2.0));
}

TEST_CASE("A figure is told in its unit", "[validation]") {
  const double seconds = only("{claim: c, published: 1, unit: s, ours: {load: one}}").value;
  CHECK(only("{claim: c, published: 1, unit: ms, ours: {load: one}}").value ==
        Approx(1e3 * seconds));
}

TEST_CASE("Of several points the best counts: the least time, the greatest rate", "[validation]") {
  const auto at = [](const std::string& metric, const std::string& clients) {
    return only("{claim: c, published: 1, unit: s, ours: {load: one, metric: " + metric +
                ", axes: {traffic.concurrency: [" + clients + "]}}}");
  };
  for (const std::string metric : {"tpot_mean_s", "throughput_tok_per_s"}) {
    INFO(metric);
    const std::string best = metric == "tpot_mean_s" ? "1" : "64";
    CHECK(at(metric, "1, 8, 64").value == at(metric, best).value);
    CHECK(at(metric, "1, 8, 64").how == "at concurrency " + best);
  }
}

TEST_CASE("Within a published range nothing differs, beyond it the distance to its end counts",
          "[validation]") {
  const std::string ours = "unit: x, ours: {number: 6}}";
  CHECK(only("{claim: c, published: 5, published_to: 8, " + ours).difference == 0.0);
  CHECK(only("{claim: c, published: 2, published_to: 4, " + ours).difference == Approx(0.5));
  CHECK(only("{claim: c, published: 8, published_to: 9, " + ours).difference == Approx(-0.25));
}

TEST_CASE("The operators of a pass add up to all of them", "[validation]") {
  const auto share = [](const std::string& operators) {
    return only("{claim: c, published: 1, unit: x, ours: {load: one, operators: [" + operators +
                "]}, over: {load: one, operators: ['*']}}")
        .value;
  };
  CHECK(share("'attention.*'") + share("'mlp.*'") + share("'head.*', embedding") == Approx(1.0));
}

TEST_CASE("Prompts of a task's turns add up: each has all before it", "[validation]") {
  const auto count = [](const std::string& what) {
    return only("{claim: c, published: 1, unit: x, ours: {load: one, count: " + what +
                ", set: {traffic: {agents: {concurrent: 1, turns: 3, initial_context: 1000, "
                "output_tokens: 10, tool_tokens: 90, tools: [{time: 2 s}]}}}}}")
        .value;
  };
  CHECK(count("prompt_tokens_per_task") == 1000.0 + 1100.0 + 1200.0);
  CHECK(count("answer_tokens_per_task") == 30.0);
  CHECK(count("tools_s_per_task") == Approx(2.0 * 2.0));
  CHECK(only("{claim: c, published: 1, unit: x, ours: {load: one, count: tools_s_per_task}}").how ==
        "no agents");
}

TEST_CASE("A load, a metric or a kind of row that there is not is bad input", "[validation]") {
  const auto message = [](const std::string& ours) {
    try {
      parsed("  - {claim: c, published: 1, unit: x, ours: " + ours + "}");
    } catch (const base::InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(message("{load: on}").find("did you mean \"one\"?") != std::string::npos);
  CHECK(message("{load: one, metric: tpot_mean}").find("tpot_mean_s") != std::string::npos);
  CHECK(message("{row: {kind: gem}}").find("gemm") != std::string::npos);
  CHECK(message("{load: one, number: 3}").find("one of them") != std::string::npos);
  CHECK(message("{}").find("expects a load") != std::string::npos);
}

}  // namespace roofcast::validation_claims
