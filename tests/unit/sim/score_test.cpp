// SPDX-License-Identifier: Apache-2.0
#include "sim/result/score.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sim/decide/sweep.hpp"
#include "sim/decide/sweep_run.hpp"
#include "sim/estimate.hpp"
#include "sim/result/metrics.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_sim_score {

using Catch::Matchers::ContainsSubstring;
using sim::ScoreGap;

namespace {

sim::ServingEstimate estimate_of(const std::string& model, const std::string& precision,
                                 const std::string& accuracy, int output_tokens = 1000) {
  const sim::Scenario scenario = sim::read_scenario(base::parse_document(
      "test", fmt::format("system: hgx_b200\n"
                          "model: {}\n"
                          "{}"
                          "deployment: {{tensor_parallel: 8}}\n"
                          "serving: {{stack: vllm}}\n"
                          "traffic: {{input_tokens: 1000, output_tokens: {}, concurrency: 4}}\n"
                          "{}",
                          model, precision.empty() ? "" : "precision: " + precision + "\n",
                          output_tokens, accuracy.empty() ? "" : "accuracy: " + accuracy + "\n")));
  sim::Workspace workspace;
  return sim::estimate(sim::view(scenario), workspace);
}

sim::KnownScore score(const std::string& model, const std::string& precision,
                      const std::string& accuracy, int output_tokens = 1000) {
  return estimate_of(model, precision, accuracy, output_tokens).score;
}

}  // namespace

TEST_CASE("A score is the published one of its model, precision and effort", "[unit]") {
  CHECK(score("gpt-oss-120b", "", "{benchmark: aime_2025, effort: low}").percent == 50.4);
  CHECK(score("gpt-oss-120b", "", "{benchmark: aime_2025, effort: high}").percent == 92.5);
  const auto r1 = score("deepseek-v3", "", "{benchmark: aime_2025, checkpoint: DeepSeek-R1}");
  CHECK(r1.percent == 70.0);
  CHECK(r1.tokens == 12000.0);
}

TEST_CASE("Where no score is published there is none, and a reason", "[unit]") {
  const auto gap = [](const std::string& model, const std::string& precision,
                      const std::string& accuracy) {
    const sim::KnownScore s = score(model, precision, accuracy);
    CHECK(std::isnan(s.percent) == (s.gap != ScoreGap::known));
    CHECK(sim::reason(s.gap).empty() ==
          (s.gap == ScoreGap::known || s.gap == ScoreGap::not_requested));
    return s.gap;
  };
  CHECK(gap("gpt-oss-120b", "", "") == ScoreGap::not_requested);
  CHECK(gap("llama-3.1-70b", "fp8", "{benchmark: aime_2025}") == ScoreGap::model);
  CHECK(gap("gpt-oss-120b", "", "{benchmark: aime_2025}") == ScoreGap::several);
  CHECK(gap("gpt-oss-120b", "", "{benchmark: aime_2025, effort: utmost}") == ScoreGap::model);
  CHECK(gap("nemotron-3-nano-30b-a3b", "fp8", "{benchmark: aime_2025}") == ScoreGap::precision);
  CHECK(gap("nemotron-3-nano-30b-a3b", "fp8", "{benchmark: aime_2025, measured_in: bf16}") ==
        ScoreGap::known);
  CHECK(gap("gpt-oss-120b", "{base: mxfp4_experts, kv_cache: fp8}",
            "{benchmark: aime_2025, effort: low}") == ScoreGap::precision);
}

TEST_CASE("A precision is known by its formats, a model by its dimensions, not by their names",
          "[unit]") {
  const std::string benchmark = "{benchmark: aime_2025, effort: low}";
  CHECK(score("gpt-oss-120b",
              "{weights: bf16, activations: bf16, kv_cache: bf16, experts: {weights: mxfp4}}",
              benchmark)
            .percent == 50.4);
  CHECK(score("{base: gpt-oss-120b, name: another, max_context: 65536}", "", benchmark).percent ==
        50.4);
  CHECK(score("{base: gpt-oss-120b, moe.top_k: 8}", "", benchmark).gap == ScoreGap::model);
  CHECK(score("{base: gpt-oss-120b, expert_granularity: 2}", "", benchmark).gap == ScoreGap::model);
}

TEST_CASE("Many samples of a question are scores of their own and cost as many answers", "[unit]") {
  const auto one =
      estimate_of("deepseek-v3", "", "{benchmark: aime_2024, checkpoint: DeepSeek-R1-Zero}");
  const auto vote = estimate_of(
      "deepseek-v3", "", "{benchmark: aime_2024, checkpoint: DeepSeek-R1-Zero, samples: 64}");
  CHECK(one.score.percent == 71.0);
  CHECK(vote.score.percent == 86.7);
  const std::string curve =
      "{{curve: [{{tokens: 1000, score: 50}}, {{tokens: 1000, score: 60, samples: 8}}], samples: "
      "{}}}";
  const auto tokens = [&](int samples) {
    const auto e = estimate_of("llama-3.1-70b", "fp8", fmt::format(fmt::runtime(curve), samples));
    return std::pair(sim::find_metric("score")->value(e),
                     sim::find_metric("tokens_per_answer")->value(e));
  };
  CHECK(tokens(1) == std::pair(50.0, 1000.0));
  CHECK(tokens(8) == std::pair(60.0, 8000.0));
}

TEST_CASE(
    "A vote and coverage are scores apart, and which is meant must be said where both are known",
    "[unit]") {
  const auto of = [](const std::string& benchmark) {
    return score(
        "llama-3.1-8b", "bf16",
        "{benchmark: aime_2024, checkpoint: DeepSeek-R1-Distill-Llama-8B" + benchmark + "}");
  };
  CHECK(of("").percent == 50.4);
  CHECK(of(", select: vote").percent == 50.4);
  CHECK(of(", samples: 64").percent == 80.0);
  CHECK(of(", samples: 64, select: vote").percent == 80.0);
  CHECK(of(", samples: 64, select: coverage").gap == ScoreGap::model);
  CHECK(of(", samples: 32, select: vote").gap == ScoreGap::model);
}

TEST_CASE("Coverage between two published numbers of samples follows exp(a k^-b) through both",
          "[unit]") {
  const auto of = [](int samples) {
    return score(
        "deepseek-v2", "bf16",
        fmt::format("{{benchmark: swe_bench_lite, select: coverage, samples: {}}}", samples));
  };
  CHECK(of(1).percent == 15.9);
  CHECK(of(250).percent == 56.0);
  const double a = std::log(0.159);
  const double b = std::log(std::log(0.159) / std::log(0.56)) / std::log(250.0);
  CHECK(of(5).percent == Approx(100.0 * std::exp(a * std::pow(5.0, -b))));
  CHECK(of(251).gap == ScoreGap::model);
}

TEST_CASE("Coverage of one's own curve is read between numbers of samples, a vote is not",
          "[unit]") {
  const auto of = [](const std::string& select, int samples, int tokens) {
    return score("llama-3.1-70b", "fp8",
                 fmt::format("{{select: {}, samples: {}, curve: [{{tokens: 1000, score: 20}}, "
                             "{{tokens: 4000, score: 40}}, {{tokens: 1000, score: 50, samples: "
                             "100}}, {{tokens: 4000, score: 70, samples: 100}}]}}",
                             select, samples),
                 tokens);
  };
  for (const int tokens : {1000, 2000, 4000}) {
    const double ten = of("coverage", 10, tokens).percent;
    CHECK(ten > of("coverage", 1, tokens).percent);
    CHECK(ten < of("coverage", 100, tokens).percent);
  }
  CHECK(of("coverage", 100, 2000).percent == Approx(60.0));
  CHECK(of("vote", 100, 2000).percent == Approx(60.0));
  CHECK(of("vote", 10, 2000).gap == ScoreGap::curve);
  CHECK(of("coverage", 101, 2000).gap == ScoreGap::curve);
}

TEST_CASE("Samples of a question share its prompt, and take turns where clients are few",
          "[unit]") {
  const auto of = [](int samples) {
    return estimate_of(
        "llama-3.1-70b", "fp8",
        fmt::format("{{select: vote, samples: {}, curve: [{{tokens: 1000, score: 20}}, "
                    "{{tokens: 1000, score: 30, samples: 4}}, {{tokens: 1000, "
                    "score: 40, samples: 9}}]}}",
                    samples));
  };
  const auto value = [](std::string_view name, const sim::ServingEstimate& e) {
    return sim::find_metric(name)->value(e);
  };
  const auto one = of(1);
  const auto four = of(4);
  const auto nine = of(9);
  CHECK(four.output_rate > one.output_rate);
  CHECK(value("tokens_per_answer", four) == 4000.0);
  CHECK(value("answer_s", four) < value("answer_s", one));
  CHECK(value("answer_s", nine) ==
        Approx(3.0 * (value("ttft_mean_s", nine) + 999.0 * value("tpot_mean_s", nine))));
  CHECK(value("gpu_s_per_answer", nine) ==
        Approx(9000.0 / value("throughput_tok_per_s_per_gpu", nine)));
  CHECK(value("usd_per_answer", four) < 4.0 * value("usd_per_answer", one));
}

TEST_CASE("The first sample of a question computes its prompt, the others find it", "[unit]") {
  const auto found = [](std::int64_t input, std::int64_t cached, std::int64_t samples) {
    return sim::sampled_traffic({.input_tokens = input, .cached_tokens = cached}, samples)
        .cached_tokens;
  };
  CHECK(found(1000, 0, 1) == 0);
  CHECK(found(1000, 0, 4) == 750);
  CHECK(found(1000, 900, 4) == 900);
  CHECK(found(1, 0, 64) == 0);
  CHECK(found(10, 0, 64) == 9);
}

TEST_CASE("What a sample takes may be assumed where nobody published it", "[unit]") {
  const std::string benchmark = "{benchmark: aime_2024, checkpoint: DeepSeek-R1-Distill-Llama-8B";
  CHECK(std::isnan(score("llama-3.1-8b", "bf16", benchmark + "}").tokens));
  CHECK(score("llama-3.1-8b", "bf16", benchmark + ", tokens: 8000}").tokens == 8000.0);
  CHECK(score("deepseek-v3", "", "{benchmark: aime_2025, checkpoint: DeepSeek-R1, tokens: 1}")
            .tokens == 12000.0);
}

TEST_CASE("A curve is read between its points, in the logarithm of the tokens", "[unit]") {
  const std::string curve =
      "{curve: [{tokens: 4000, score: 70}, {tokens: 1000, score: 50}, {tokens: 16000, score: 72}]}";
  CHECK(score("llama-3.1-70b", "fp8", curve, 1000).percent == 50.0);
  CHECK(score("llama-3.1-70b", "fp8", curve, 2000).percent == Approx(60.0));
  CHECK(score("llama-3.1-70b", "fp8", curve, 4000).percent == 70.0);
  CHECK(score("llama-3.1-70b", "fp8", curve, 8000).percent == Approx(71.0));
  CHECK(score("llama-3.1-70b", "fp8", curve, 999).gap == ScoreGap::curve);
  CHECK(score("llama-3.1-70b", "fp8", curve, 16001).gap == ScoreGap::curve);
}

TEST_CASE("Time and cost of an answer follow from its tokens", "[unit]") {
  const auto e = estimate_of("deepseek-v3", "", "{benchmark: aime_2025, checkpoint: DeepSeek-R1}");
  const auto value = [&](std::string_view name) { return sim::find_metric(name)->value(e); };
  CHECK(value("tokens_per_answer") == 12000.0);
  CHECK(value("answer_s") == Approx(value("ttft_mean_s") + 11999.0 * value("tpot_mean_s")));
  CHECK(value("usd_per_answer") == Approx(0.012 * value("cost_usd_per_mtok")));
}

TEST_CASE("Points without a score stay in a sweep and off its front", "[unit]") {
  const sim::SweepPoints points(sim::read_sweep(
      base::parse_document("test",
                           "base:\n"
                           "  system: hgx_b200\n"
                           "  deployment: {tensor_parallel: 1}\n"
                           "  serving: {stack: vllm}\n"
                           "  traffic: {input_tokens: 1000, output_tokens: 500, concurrency: 4}\n"
                           "  accuracy: {benchmark: aime_2025}\n"
                           "axes:\n"
                           "  model: [gpt-oss-120b, llama-3.1-8b]\n"
                           "  accuracy.effort: [low, high]\n"
                           "pareto: {maximize: [score, interactivity_tok_per_s_per_user]}\n")));
  const sim::ResultTable result = sim::run_sweep(points, 1);
  REQUIRE(points.size() == 4);
  CHECK(result.meeting() == 4);
  const sim::ResultColumn& rank = result.column("pareto_rank");
  CHECK(rank.number(0) == 2.0);
  CHECK(rank.number(1) == 1.0);
  CHECK(rank.is_empty(2));
  CHECK(rank.is_empty(3));
}

TEST_CASE("Every file of scores is of a model and of precisions of the catalog", "[unit]") {
  const auto models = base::catalog_ids(workloads::model_catalog());
  for (const std::string& id : base::catalog_ids(workloads::score_catalog())) {
    INFO(id);
    CHECK(std::find(models.begin(), models.end(), id) != models.end());
  }
  CHECK_THROWS_WITH(
      score("gpt-oss-120b", "", "{benchmark: aime_2052}"),
      ContainsSubstring("there is no score of \"aime_2052\"; did you mean \"aime_2025\"?"));
  CHECK_THROWS_WITH(score("gpt-oss-120b", "", "{benchmark: aime_2025, measured_in: bf61}"),
                    ContainsSubstring("did you mean \"bf16\"?"));
}

}  // namespace roofcast::unit_sim_score
