// SPDX-License-Identifier: Apache-2.0
#include "cli/question/first_questions.hpp"

#include <sstream>

#include "base/document/problems.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_cli_first_questions {

using Catch::Matchers::ContainsSubstring;

namespace {

struct Asked {
  cli::FirstAnswers answers;
  std::string printed;
};

Asked asked(const std::string& typed, cli::FirstAnswers answers = {}) {
  std::istringstream in(typed);
  std::ostringstream out;
  cli::ask(in, out, answers);
  return {answers, out.str()};
}

}  // namespace

TEST_CASE("Five answers make a scenario that reads, with the command that comes next", "[unit]") {
  const Asked a = asked("llama-3.1-8b\nhgx_h100 2\n2000 500 4 /s\n1s 30ms\nclients\n");
  CHECK(a.answers.said.gpus == 2);
  CHECK(a.answers.said.rate == "4 /s");
  const std::string next = cli::next_command(a.answers, "mine.yaml");
  CHECK(next ==
        "roofcast solve mine.yaml --vary traffic.concurrency --until 'ttft_p95 <= 1s' --until "
        "'tpot_p95 <= 30ms'");
  const std::string text = cli::commented_scenario(a.answers, next);
  CHECK_THAT(text, ContainsSubstring("# Written by roofcast init. Next: roofcast solve"));
  CHECK_THAT(text, ContainsSubstring("# roofcast list models"));
  const sim::StreamedScenario s = sim::read_streamed_scenario(base::parse_document("mine", text));
  CHECK(s.scenario.deployment.mapping.tensor_parallel == 2);
  CHECK(s.scenario.traffic.input_tokens == 2000);
  CHECK(s.scenario.traffic.arrivals.has_value());
  REQUIRE(s.stream.classes.size() == 1);
  CHECK(s.stream.classes.front().objectives.ttft->si() == 1.0);
}

TEST_CASE("An answer that cannot be is asked for again, with the reason", "[unit]") {
  const Asked a = asked(
      "\nllama-3.1-8\nllama-3.1-8b\nhgx_h10\nhgx_h100\n2000\n2000 many\n2000 500\n1 "
      "cow\n\nfast\n\n");
  CHECK_THAT(a.printed, ContainsSubstring("a model is needed"));
  CHECK_THAT(a.printed, ContainsSubstring("did you mean \"llama-3.1-8b\""));
  CHECK_THAT(a.printed, ContainsSubstring("no system is called \"hgx_h10\""));
  CHECK_THAT(a.printed, ContainsSubstring("two lengths are needed"));
  CHECK_THAT(a.printed, ContainsSubstring("many"));
  CHECK_THAT(a.printed, ContainsSubstring("cow"));
  CHECK_THAT(a.printed, ContainsSubstring("\"fast\" is none of speed, clients"));
  CHECK(a.answers.find == "speed");
  CHECK(cli::next_command(a.answers, "x.yaml") == "roofcast estimate x.yaml");
}

TEST_CASE("An answer that cannot be leaves nothing behind, and clients may be called so",
          "[unit]") {
  cli::FirstAnswers answers;
  answers.said.model = "llama-3.1-8b";
  answers.said.system = "hgx_h100";
  const Asked a = asked("2000 500 many\n3000\n1000 100 64 clients\n1 cow\n\n\n", answers);
  CHECK_THAT(a.printed, ContainsSubstring("two lengths are needed"));
  CHECK(a.answers.said.input == "1000");
  CHECK(a.answers.said.output == "100");
  CHECK(a.answers.said.clients == "64");
  CHECK(a.answers.said.ttft.empty());
}

TEST_CASE("What is said already is not asked, and an input that ends is an error", "[unit]") {
  cli::FirstAnswers answers;
  answers.said.model = "llama-3.1-8b";
  answers.said.system = "hgx_h100";
  const Asked a = asked("100 10 8\n\nlimits\n", answers);
  CHECK(a.printed.find("1 of 5") == std::string::npos);
  CHECK(a.answers.said.clients == "8");
  CHECK(cli::next_command(a.answers, "x.yaml") == "roofcast sensitivity x.yaml");
  CHECK_THROWS_AS(asked("llama-3.1-8b\n"), base::InputError);
}

}  // namespace roofcast::unit_cli_first_questions
