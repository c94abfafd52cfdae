// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_renamed {
namespace {

std::string scenario_with(const std::string& serving) {
  return "system: hgx_h200\nmodel: llama-3.1-70b\nprecision: fp8\n"
         "deployment: {tensor_parallel: 8}\n"
         "serving: {stack: vllm" +
         serving +
         "}\n"
         "traffic: {input_tokens: 2048, output_tokens: 512, concurrency: 64}\n";
}

constexpr const char* kNote =
    "note: \"max_tokens_per_step\" is now called \"max_tokens_per_iteration\"";

}  // namespace

TEST_CASE("A key under its old name does the same as under its new one, with a note", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("new.yaml", scenario_with(", max_tokens_per_iteration: 1024"));
  roofcast.write("old.yaml", scenario_with(", max_tokens_per_step: 1024"));
  roofcast.write("none.yaml", scenario_with(""));
  const Outcome now = roofcast.run({"estimate", "new.yaml", "--format", "csv"});
  const Outcome none = roofcast.run({"estimate", "none.yaml", "--format", "csv"});
  REQUIRE(now.code == 0);
  CHECK(now.err.empty());
  CHECK(now.out != none.out);
  const Outcome old = roofcast.run({"estimate", "old.yaml", "--format", "csv"});
  CHECK(old.out == now.out);
  CHECK(old.err.find("old.yaml:5:") != std::string::npos);
  CHECK(old.err.find(kNote) != std::string::npos);
}

TEST_CASE("A path under its old name sets the same knob as its new one, with a note", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("new.yaml", scenario_with(", max_tokens_per_iteration: 1024"));
  roofcast.write("old.yaml", scenario_with(", max_tokens_per_step: 512"));
  const std::string expected = roofcast.output({"estimate", "new.yaml", "--format", "csv"});
  for (const char* file : {"new.yaml", "old.yaml"}) {
    for (const char* path : {"serving.max_tokens_per_step", "serving.max_tokens_per_iteration"}) {
      INFO(file << " " << path);
      const Outcome set =
          roofcast.run({"estimate", file, "--set", std::string(path) + "=1024", "--format", "csv"});
      CHECK(set.code == 0);
      CHECK(set.out == expected);
    }
  }
  const Outcome set = roofcast.run(
      {"estimate", "new.yaml", "--set", "serving.max_tokens_per_step=1024", "--format", "csv"});
  CHECK(set.err.find(kNote) != std::string::npos);
}

TEST_CASE("A column under its old name is found under its new one, with a note", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("old.csv",
                 "point,fits,meets,tokens_per_step,tpot_mean_s\n"
                 "0,true,true,1,0.01\n1,true,true,2,0.02\n");
  const Outcome front = roofcast.run({"pareto", "old.csv", "--maximize", "tokens_per_iteration",
                                      "--minimize", "tpot_mean_s", "--csv", "front.csv"});
  CHECK(front.code == 0);
  CHECK(front.err.find("the column \"tokens_per_step\" is now called \"tokens_per_iteration\"") !=
        std::string::npos);
}

TEST_CASE("A column of a sweep that is asked for under its old name is written under its new one",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("base.yaml", scenario_with(""));
  for (const char* column : {"ttft", "tpot", "throughput"}) {
    const std::string axes = "base: base.yaml\naxes: {traffic.concurrency: [1, 8]}\ncolumns: [";
    roofcast.write("old.yaml", axes + "bound_" + column + "]\n");
    roofcast.write("new.yaml", axes + "limited_by_" + column + "]\n");
    const Outcome old = roofcast.run({"sweep", "old.yaml", "--csv", "old.csv", "--force"});
    CHECK(old.code == 0);
    CHECK(contains(old.err, std::string("\"bound_") + column + "\" is now called \"limited_by_" +
                                column + "\""));
    roofcast.output({"sweep", "new.yaml", "--csv", "new.csv", "--force"});
    CHECK(roofcast.read("old.csv") == roofcast.read("new.csv"));
    CHECK(contains(roofcast.read("new.csv"), std::string("limited_by_") + column));
  }
}

TEST_CASE("An objective or a condition under its old name is read as the new one, with a note",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("base.yaml", scenario_with(""));
  const auto sweep = [](const std::string& metric) {
    return "base: base.yaml\naxes: {traffic.concurrency: [1, 8]}\nwhere: ['" + metric +
           " >= 1']\npareto: {maximize: [" + metric + "]}\n";
  };
  roofcast.write("old.yaml", sweep("tokens_per_step"));
  roofcast.write("new.yaml", sweep("tokens_per_iteration"));
  const std::string note = "note: \"tokens_per_step\" is now called \"tokens_per_iteration\"";
  const auto with_note = [&](const std::vector<std::string>& arguments) {
    const Outcome outcome = roofcast.run(arguments);
    INFO(outcome.err);
    CHECK(outcome.code == 0);
    CHECK(contains(outcome.err, note));
    return outcome.out;
  };
  with_note({"check", "old.yaml"});
  with_note({"sweep", "old.yaml", "--csv", "old.csv", "--force"});
  roofcast.output({"sweep", "new.yaml", "--csv", "new.csv", "--force"});
  CHECK(roofcast.read("old.csv") == roofcast.read("new.csv"));
  CHECK(with_note({"pareto", "old.csv", "--maximize", "tokens_per_step"}) ==
        roofcast.output({"pareto", "old.csv", "--maximize", "tokens_per_iteration"}));
  with_note({"solve", "base.yaml", "--vary", "traffic.concurrency=1..8", "--until",
             "tokens_per_step >= 1"});
}

}  // namespace roofcast::cli::cli_renamed
