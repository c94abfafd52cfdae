// SPDX-License-Identifier: Apache-2.0
//
// Scenarios that nobody wrote as YAML: of `roofcast init`, and of the options of estimate and simulate.
#include <string>
#include <vector>

#include "cli/text/exit_code.hpp"
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/measured_log.hpp"

namespace roofcast::cli::cli_question_init_command {
namespace {

const std::vector<std::string> kSaid = {
    "--model", "llama-3.1-8b", "--system", "hgx_h100", "--gpus",    "2",
    "--input", "1000",         "--output", "200",      "--clients", "16"};

std::vector<std::string> with(std::vector<std::string> head,
                              const std::vector<std::string>& more = {}) {
  head.insert(head.end(), kSaid.begin(), kSaid.end());
  head.insert(head.end(), more.begin(), more.end());
  return head;
}

std::string refusal(const Program& roofcast, const std::vector<std::string>& arguments) {
  const Outcome outcome = roofcast.run(arguments);
  CHECK(outcome.code == 2);
  return outcome.err;
}

}  // namespace

TEST_CASE("init writes a scenario that gives the forecast of its options", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const Outcome wrote =
      roofcast.run(with({"init", "mine.yaml"}, {"--ttft-p95", "2s", "--find", "requests"}));
  CHECK(wrote.code == 0);
  CHECK(contains(wrote.out, "Wrote mine.yaml. Next:\n  roofcast simulate mine.yaml\n"));
  CHECK(contains(wrote.err, "the serving stack is vllm (no --stack was given)"));
  CHECK(contains(roofcast.read("mine.yaml"), "\n# the hardware: "));
  const auto csv = [&](const std::vector<std::string>& arguments) {
    return roofcast.run(arguments).out;
  };
  const std::string of_file =
      csv({"estimate", "mine.yaml", "--format", "csv", "--set", "traffic.objectives.ttft=2 s"});
  CHECK(!of_file.empty());
  CHECK(of_file ==
        csv(with({"estimate"}, {"--format", "csv", "--set", "traffic.objectives={ttft: 2 s}"})));
}

TEST_CASE("init replaces no file unless it must, and asks nobody where there is no terminal",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("mine.yaml", "kept\n");
  CHECK(contains(refusal(roofcast, with({"init", "mine.yaml"})),
                 "error: mine.yaml is there already; --force replaces it"));
  CHECK(roofcast.read("mine.yaml") == "kept\n");
  CHECK(roofcast.run(with({"init", "mine.yaml"}, {"--force"})).code == 0);
  const Outcome silent =
      roofcast.shell("roofcast init other.yaml --model llama-3.1-8b < /dev/null");
  CHECK(silent.code == 2);
  CHECK(contains(silent.err, "--system, --input, --output are needed: stdin is no terminal"));
  CHECK(contains(roofcast.run(with({"init", "-"})).out, "\n# lengths, load and limits"));
  CHECK(contains(refusal(roofcast, with({"init", "-"}, {"--tpot-p95", "fast"})), "fast"));
}

TEST_CASE("estimate and simulate take a scenario from options, say what they took, and save it",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const Outcome told = roofcast.run(with({"estimate"}, {"--save", "mine.yaml", "--no-replay"}));
  CHECK(told.code == 0);
  CHECK(contains(told.out, "TP2 PP1 EP1 DP1"));
  CHECK(contains(told.out, "1000 tokens in, 200 out, concurrency 16"));
  CHECK(contains(told.err, "the 2 GPUs are one tensor-parallel group"));
  CHECK(contains(told.err, "the precision is the model's own"));
  CHECK(roofcast.output({"estimate", "mine.yaml", "--no-replay"}) == told.out);
  CHECK(contains(roofcast.read("mine.yaml"), "# Written by roofcast estimate.\n"));
  CHECK(roofcast.run(with({"simulate"})).out == roofcast.output({"simulate", "mine.yaml"}));
  // Options say what differs from a file.
  CHECK(contains(roofcast.output({"estimate", "mine.yaml", "--rate", "3 /s", "--no-replay"}),
                 "3 requests a second"));
  CHECK(contains(refusal(roofcast, {"estimate", "--model", "llama-3.1-8b"}),
                 "error: --system is needed, or a scenario file"));
  CHECK(contains(refusal(roofcast, with({"estimate"}, {"--rate", "3 /s"})),
                 "--rate or --clients, not both"));
  CHECK(contains(refusal(roofcast, with({"simulate"}, {"--stack", "vlm"})), "\"vllm\""));
}

TEST_CASE("A scenario without deployment and serving is one GPU with the usual stack", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string rest =
      "system: hgx_h100\nmodel: llama-3.1-8b\ntraffic: {input_tokens: 100, output_tokens: 10, "
      "concurrency: 4}\n";
  roofcast.write("short.yaml", rest);
  roofcast.write("long.yaml", rest + "deployment: {tensor_parallel: 1}\nserving: {stack: vllm}\n");
  for (const char* command : {"estimate", "simulate", "sensitivity", "check"}) {
    INFO(command);
    std::string text = roofcast.output({command, "short.yaml"});
    if (const auto at = text.find("short.yaml"); at != std::string::npos) {
      text.replace(at, 10, "long.yaml");
    }
    CHECK(text == roofcast.output({command, "long.yaml"}));
  }
  roofcast.write("sweep.yaml", "base: short.yaml\naxes: {system.chip.hbm.bandwidth: [x1, x2]}\n");
  CHECK(roofcast.run({"sweep", "sweep.yaml", "--csv", "out.csv", "--quiet"}).code == 0);
  roofcast.write("roadmap.yaml",
                 "workloads: {one: {base: short.yaml}}\nfeatures: {memory: "
                 "{system.chip.hbm.bandwidth: x2}}\n");
  CHECK(contains(roofcast.output({"compare", "roadmap.yaml"}), "memory"));
}

TEST_CASE("compare understands a log before its scenario", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string log = measured_log("nccl_all_reduce_16.txt").string();
  const std::string scenario = example("llama-70b");
  const Outcome usual =
      roofcast.run({"compare", scenario, log, "--set", "system=h100_cluster_128"});
  const Outcome swapped =
      roofcast.run({"compare", log, scenario, "--set", "system=h100_cluster_128"});
  CHECK(usual.out == swapped.out);
  CHECK(usual.err == swapped.err);
  CHECK(usual.code == kDone);
  CHECK(swapped.code == kDone);
}

}  // namespace roofcast::cli::cli_question_init_command
