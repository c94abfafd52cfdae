// SPDX-License-Identifier: Apache-2.0
#include "calibrate/conventions/conventions.hpp"

#include "tests/catch.hpp"

namespace roofcast::calibrate::unit_calibrate_conventions {
namespace {

std::string value(const std::string& rules, const Facts& facts, std::string_view path) {
  const Conventions conventions(
      std::vector{base::parse_document("c.yaml", "title: T\nsource: S\nrules:\n" + rules)});
  const base::Node* found = find(conventions.settings(facts), path);
  return found == nullptr ? "" : found->text;
}

Facts facts(std::string_view stack, std::int64_t clients) {
  Facts known;
  known.set("stack", stack);
  known.set("clients", clients);
  return known;
}

}  // namespace

TEST_CASE("A star in a pattern stands for any characters, and none", "[unit]") {
  CHECK(fits_pattern("vllm", "vllm"));
  CHECK(!fits_pattern("vllm", "vllm2"));
  CHECK(fits_pattern("1.0.*", "1.0.0rc3"));
  CHECK(!fits_pattern("1.0.*", "11.0.1"));
  CHECK(fits_pattern("*moe*", "fused_moe"));
  CHECK(fits_pattern("v*cutlass*s", "v_flashinfer_cutlass_experts"));
  CHECK(!fits_pattern("v*cutlass*s", "v_cutlas"));
  CHECK(!fits_pattern("a*a", "a"));
  CHECK(fits_pattern("", ""));
  CHECK(!fits_pattern("", "a"));
}

TEST_CASE("Of a topic's rules the first that fits is applied, and of every topic one", "[unit]") {
  const std::string rules = R"(  t:
    - where: {stack: vllm, clients: ">= 16"}
      set: {a: 1}
    - where: {stack: [vllm, sglang]}
      set: {a: 2}
    - set: {a: 3}
  u:
    - where: {clients: "< 16"}
    - set: {b: more}
)";
  CHECK(value(rules, facts("vllm", 16), "a") == "1");
  CHECK(value(rules, facts("vllm", 15), "a") == "2");
  CHECK(value(rules, facts("sglang", 16), "a") == "2");
  CHECK(value(rules, facts("trtllm", 16), "a") == "3");
  CHECK(value(rules, facts("vllm", 16), "b") == "more");
  CHECK(value(rules, facts("vllm", 8), "b").empty());
}

TEST_CASE("What a topic set is a fact of those below it, unless the run tells it", "[unit]") {
  const std::string rules = R"(  t:
    - where: {stack: vllm}
      set: {run.kind: fast}
  u:
    - where: {run.kind: fast}
      set: {b: 1}
    - where: {run.kind: ""}
      set: {b: 2}
)";
  CHECK(value(rules, facts("vllm", 1), "b") == "1");
  CHECK(value(rules, facts("sglang", 1), "b") == "2");
  Facts told = facts("sglang", 1);
  told.set("run.kind", "fast");
  CHECK(value(rules, told, "b") == "1");
}

TEST_CASE("One's own rules come first in their topic, and the shipped ones stay below them",
          "[unit]") {
  const auto read = [](const std::string& rules) {
    return base::parse_document("c.yaml", "title: T\nsource: S\nrules: " + rules);
  };
  const Conventions both(std::vector{read("{t: [{where: {stack: vllm}, set: {a: mine}}], "
                                          "new: [{where: {b: 2}, set: {c: 3, b: 4}}]}"),
                                     read("{t: [{where: {stack: vllm}, set: {a: 0}}, "
                                          "{set: {a: 1}}], u: [{set: {b: 2}}]}")});
  const auto text = [&](std::string_view stack, std::string_view path) {
    return find(both.settings(facts(stack, 1)), path)->text;
  };
  CHECK(both.rules() == 5);
  CHECK(text("vllm", "a") == "mine");
  CHECK(text("sglang", "a") == "1");
  CHECK(text("vllm", "c") == "3");  // a new topic knows what the others set, and wins
  CHECK(text("vllm", "b") == "4");
}

TEST_CASE("A rule that asks for what is no fact is a problem at its place", "[unit]") {
  CHECK_THROWS_WITH(
      value("  t:\n    - where: {stak: vllm}\n      set: {a: 1}\n", facts("vllm", 1), "a"),
      Catch::Matchers::StartsWith("c.yaml:5:15: error: stak: is no fact"));
}

TEST_CASE("Problems of a convention are all reported with their places", "[unit]") {
  const auto read = [](const std::string& text) {
    return Conventions(std::vector{base::parse_document("c.yaml", text)}).rules();
  };
  CHECK(read("title: T\nrules: {t: [{set: {a: 1}, source: S}]}\n") == 1);
  CHECK_THROWS_WITH(read("title: T\nrules: {t: [{set: {a: 1}}]}\n"),
                    Catch::Matchers::ContainsSubstring("source"));
  CHECK_THROWS_WITH(read("title: T\nsource: S\nrules: {t: [{wher: {a: 1}}], u: 1}\n"),
                    Catch::Matchers::ContainsSubstring("wher") &&
                        Catch::Matchers::ContainsSubstring("expects a list of rules"));
  CHECK_THROWS_WITH(read("title: T\nsource: S\nrules: {t: [{where: {a: {b: 1}}}]}\n"),
                    Catch::Matchers::ContainsSubstring("expects a text or a list of texts"));
}

TEST_CASE("Assignments reach the scenario as --set does, and those of the run stay apart",
          "[unit]") {
  const Conventions conventions(std::vector{
      base::parse_document("c.yaml",
                           "title: T\nsource: S\nrules: {t: [{set: {serving.stack: vllm, "
                           "serving.stack.limits.max_sequences: x2, "
                           "run.iteration: {more: 64}}}]}\n")});
  const Settings chosen = conventions.settings({});
  base::Problems problems;
  base::Node scenario;
  set(scenario, chosen, problems);
  CHECK(scenario.find_path("serving.stack.limits.max_sequences")->text == "1024");
  CHECK(scenario.find("run") == nullptr);
  CHECK(run_settings(chosen, problems).find_path("iteration.more")->text == "64");
  CHECK(problems.empty());
}

}  // namespace roofcast::calibrate::unit_calibrate_conventions
