// SPDX-License-Identifier: Apache-2.0
//
// Laws of speculative decoding over the whole catalog.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sim/confirm/replayed_estimate.hpp"
#include "sim/iteration/draft_model.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"
#include "tests/laws/cases/serving_cases.hpp"
#include "tests/laws/cases/violations.hpp"

namespace roofcast::laws::laws_speculation {
namespace {

using workloads::DraftMethod;

constexpr DraftMethod kMethods[] = {DraftMethod::mtp, DraftMethod::eagle, DraftMethod::model,
                                    DraftMethod::ngram};

workloads::Serving speculating(const workloads::Serving& serving, DraftMethod method,
                               std::int64_t draft_tokens, double acceptance) {
  workloads::Serving s = serving;
  s.speculation.method = method;
  s.speculation.draft_tokens = draft_tokens;
  s.speculation.acceptance.assign(static_cast<std::size_t>(draft_tokens), acceptance);
  if (method == DraftMethod::model) {
    s.speculation.model = model("llama-3.1-8b");
  }
  return s;
}

// Calls `law` with a sample of the feasible cases that fit with a draft of three tokens as well.
template <class Law>
void for_each_draft(std::uint64_t seed, std::uint64_t sample, Law law) {
  sim::Workspace workspace;
  for_each_feasible(seed, sample, {1, 30, 400}, [&](const ServingCase& c) {
    for (const DraftMethod method : kMethods) {
      const workloads::Serving serving = speculating(*c.scenario.serving, method, 3, 0.5);
      ServingCase drafting = c;
      drafting.scenario.serving = &serving;
      if (c.scenario.traffic->output_tokens > 1 &&
          sim::estimate(drafting.scenario, workspace).fits()) {
        law(c, method);
      }
    }
  });
}

sim::ServingEstimate with(const ServingCase& c, DraftMethod method, std::int64_t draft_tokens,
                          double acceptance, sim::Workspace& workspace) {
  const workloads::Serving serving =
      speculating(*c.scenario.serving, method, draft_tokens, acceptance);
  sim::ScenarioView scenario = c.scenario;
  scenario.serving = &serving;
  return sim::estimate(scenario, workspace);
}

}  // namespace

TEST_CASE("Drafts that are never accepted cost time", "[laws]") {
  sim::Workspace workspace;
  // Tilings of more rows may be a little faster, as may be collectives of more bytes.
  Violations faster(0.03);
  for_each_draft(11, 1601, [&](const ServingCase& c, DraftMethod method) {
    const sim::ScenarioView& plain = c.scenario;
    for (const std::int64_t sequences : {1, 16, 200}) {
      const workloads::Serving serving = speculating(*plain.serving, method, 3, 0.0);
      sim::ScenarioView s = plain;
      s.serving = &serving;
      const auto draft = sim::draft_model_of(s);
      s.draft = draft.get();
      const workloads::Batch one{sequences, 1, 2000, 0, 0, 0, 0};
      workloads::Batch verified = one;
      verified.query_tokens = 4;
      const double before = sim::iteration_cost(plain, one, workspace).latency.si();
      const double after = sim::iteration_cost(s, verified, workspace).latency.si();
      faster.add(1.0 - after / before, [&] { return c.text(); });
    }
  });
  ROOFCAST_CHECK_LAW(faster);
}

TEST_CASE("Drafts that are always accepted yield all their tokens and one", "[laws][long]") {
  sim::Workspace workspace;
  Violations yields(1e-12);
  for_each_draft(12, 2402, [&](const ServingCase& c, DraftMethod method) {
    for (const std::int64_t draft_tokens : {1, 3}) {
      const auto e = with(c, method, draft_tokens, 1.0, workspace);
      yields.add(std::abs(e.steady.tokens_per_iteration - static_cast<double>(draft_tokens + 1)),
                 [&] { return c.text(); });
    }
  });
  ROOFCAST_CHECK_LAW(yields);
}

TEST_CASE("The more is accepted, the less time a token takes", "[laws][long]") {
  sim::Workspace workspace;
  // Faster decoding asks for more prompts a step: of a whole number, so that TPOT has small jumps.
  Violations slower(0.01);
  Violations fewer(0.01);
  for_each_draft(13, 2503, [&](const ServingCase& c, DraftMethod method) {
    double tpot = 1e300;
    double rate = 0.0;
    for (const double acceptance : {0.0, 0.3, 0.6, 0.8, 0.9, 1.0}) {
      const auto e = with(c, method, 3, acceptance, workspace);
      slower.add(e.steady.end_to_end.si() / tpot - 1.0, [&] { return c.text(); });
      fewer.add(rate / e.output_rate - 1.0, [&] { return c.text(); });
      tpot = e.steady.end_to_end.si();
      rate = e.output_rate;
    }
  });
  // Long prompts through pipeline stages, with few clients, are the cases that miss it: 2.7 %.
  ROOFCAST_CHECK_MOSTLY(slower, 0.04);
  ROOFCAST_CHECK_MOSTLY(fewer, 0.04);
}

TEST_CASE("A draft of no tokens is none", "[laws][long]") {
  sim::Workspace workspace;
  Violations differs(0.0);
  for_each_draft(14, 1201, [&](const ServingCase& c, DraftMethod method) {
    const auto none = sim::estimate(c.scenario, workspace);
    const auto e = with(c, method, 0, 0.5, workspace);
    const bool same = e.steady.tpot == none.steady.tpot && e.output_rate == none.output_rate &&
                      e.memory == none.memory && e.joules_per_token == none.joules_per_token;
    differs.add(same || std::isnan(none.joules_per_token) ? 0.0 : 1.0, [&] { return c.text(); });
  });
  ROOFCAST_CHECK_LAW(differs);
}

namespace {

// Short prompts, with drafts of so many tokens.
sim::StreamedScenario short_prompts(std::int64_t drafts, std::int64_t clients) {
  return sim::read_streamed_scenario(base::parse_document(
      "test",
      fmt::format(
          "system: hgx_h100\nmodel: gpt-oss-120b\nprecision: mxfp4_experts\n"
          "deployment: {{tensor_parallel: 2}}\nserving: {{stack: vllm, speculative: "
          "{{method: eagle, draft_tokens: {}, acceptance: 0.85}}}}\ntraffic: "
          "{{input_tokens: 161, output_tokens: {{uniform: [100, 300]}}, concurrency: {}}}\n",
          drafts, clients)));
}

}  // namespace

TEST_CASE("No iteration takes less than its decodes and their drafts, however many are drafted",
          "[laws]") {
  sim::Workspace workspace;
  for (std::int64_t drafts = 1; drafts <= 8; ++drafts) {
    for (const std::int64_t clients : {16, 24, 40, 100}) {
      INFO(drafts << " drafts, " << clients << " clients");
      const sim::StreamedScenario streamed = short_prompts(drafts, clients);
      sim::ScenarioView s = sim::view(streamed.scenario);
      const sim::ServingEstimate e = sim::estimate(s, workspace);
      REQUIRE(e.fits());
      const auto draft = sim::draft_model_of(s);
      s.draft = draft.get();
      const base::Seconds decode =
          sim::iteration_cost(s, e.steady.decode_iteration, workspace).latency;
      CHECK(e.steady.tokens_per_iteration * e.steady.tpot > 0.97 * decode);
    }
  }
}

TEST_CASE("The estimate of drafts beside short prompts is near its replay, for every draft length",
          "[laws]") {
  for (std::int64_t drafts = 1; drafts <= 8; ++drafts) {
    INFO(drafts << " drafts");
    const sim::StreamedScenario s = short_prompts(drafts, 24);
    sim::ReplaySpace space;
    const sim::ServingEstimate e = sim::estimate(sim::view(s.scenario), space.workspace);
    const sim::Replayed replayed = sim::replay(sim::view(s.scenario), s.stream, e, {}, space);
    REQUIRE(replayed.done());
    CHECK(e.steady.tpot / replayed.estimate.steady.tpot == Approx(1.0).margin(0.1));
    CHECK(e.steady.ttft_mean / replayed.estimate.steady.ttft_mean == Approx(1.0).margin(0.1));
  }
}

}  // namespace roofcast::laws::laws_speculation
