// SPDX-License-Identifier: Apache-2.0
#include "sim/numerics/numerics.hpp"

#include <cmath>
#include <string>

#include "sim/estimate.hpp"
#include "sim/numerics/facts.hpp"
#include "sim/numerics/sum_error.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::sim::unit_sim_numerics {
namespace {

using Catch::Matchers::WithinRel;

Scenario served(const std::string& stack, const std::string& more = "",
                const std::string& system = "hgx_h200", const std::string& model = "llama-3.1-8b") {
  return read_scenario(base::parse_document(
      "test", "system: " + system + "\nmodel: " + model +
                  "\nprecision: fp8\ndeployment: {tensor_parallel: 1}\nserving: {stack: " + stack +
                  "}\ntraffic: {input_tokens: 32000, output_tokens: 768, concurrency: 1}\n" +
                  more));
}

NumericRisk verdict(std::string_view rule, const std::vector<NumericRisk>& all) {
  for (const NumericRisk& r : all) {
    if (r.rule == rule) {
      return r;
    }
  }
  FAIL("no verdict of " << rule);
  return {};
}

TEST_CASE("a sum loses up to a unit of its last place at each cut", "[unit]") {
  const SumError cut{14.0, 32.0, true, 0.0};
  CHECK_THAT(cut.of(32.0), WithinRel(1.0 / 8192.0, 1e-12));
  CHECK_THAT(cut.of(8192.0), WithinRel(256.0 / 8192.0, 1e-12));
  CHECK_THAT(SumError({11.0, 16.0, false, 0.0}).of(4096.0), WithinRel(256.0 / 2048.0, 1e-12));
  // Less than one instruction is cut once.
  CHECK(cut.of(8.0) == cut.of(32.0));
}

TEST_CASE("a promoted sum loses what one piece loses, and little for each piece", "[unit]") {
  const SumError promoted{14.0, 32.0, true, 128.0};
  CHECK_THAT(promoted.of(4096.0), WithinRel(4.0 / 8192.0 + 32.0 * std::exp2(-24.0), 1e-12));
  const SumError never{14.0, 32.0, true, 0.0};
  CHECK_THAT(promoted.of(64.0), WithinRel(never.of(64.0), 1e-3));
  for (const double k : {256.0, 4096.0, 65536.0}) {
    CHECK(promoted.of(k) < never.of(k));
  }
}

TEST_CASE("what a scenario leaves out is what is published for its stack and chip", "[unit]") {
  const auto attention = [](const Scenario& s) {
    return verdict("attention_products", numerics(view(s)));
  };
  CHECK_FALSE(attention(served("vllm")).at_risk);
  const NumericRisk unknown = attention(served("sglang"));
  CHECK(unknown.at_risk);
  CHECK_THAT(unknown.figure, WithinRel(32768.0 / 32.0 / 8192.0, 1e-12));
  CHECK(unknown.reason.find("that kernels of SGLang promote is not published") !=
        std::string::npos);
  CHECK_FALSE(attention(served("sglang", "numerics: {promotion: 128}\n")).at_risk);
  CHECK_FALSE(attention(served("sglang", "", "hgx_b200")).at_risk);
}

TEST_CASE("a verdict is the same with and without the costs of remedies", "[unit]") {
  const Scenario s = served("sglang");
  Workspace workspace;
  const ServingEstimate e = estimate(view(s), workspace);
  REQUIRE(e.fits());
  const auto with = numerics(view(s), e);
  const auto without = numerics(view(s));
  REQUIRE(with.size() == without.size());
  for (std::size_t i = 0; i < with.size(); ++i) {
    CHECK(with[i].rule == without[i].rule);
    CHECK(with[i].figure == without[i].figure);
    CHECK(with[i].at_risk == without[i].at_risk);
  }
  const NumericRisk risk = verdict("attention_products", with);
  CHECK(risk.cost.find("tok/s in place of") != std::string::npos);
}

TEST_CASE("the section numerics changes no forecast", "[unit]") {
  Workspace workspace;
  const Scenario plain = served("vllm");
  const Scenario told = served("vllm", "numerics: {promotion: 0, sums: bf16, loss_scale: 8}\n");
  CHECK(estimate(view(plain), workspace).output_rate ==
        estimate(view(told), workspace).output_rate);
}

TEST_CASE("every rule has a source, and every rule but those of a format a line", "[unit]") {
  const NumericFacts& facts = numeric_facts();
  CHECK(facts.rules.size() == 11);
  for (const auto& [name, line] : facts.rules) {
    INFO(name);
    CHECK(!line.source.empty());
    CHECK((line.threshold > 0.0) == (name != "weight_update" && name != "second_moment"));
  }
  for (const auto& [id, practice] : facts.software) {
    INFO(id);
    CHECK(!practice.source.empty());
  }
}

}  // namespace
}  // namespace roofcast::sim::unit_sim_numerics
