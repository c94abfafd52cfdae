// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_replaced_part {
namespace {

using Catch::Matchers::ContainsSubstring;
using nlohmann::json;

constexpr const char* kScenario =
    "model: llama-3.1-8b\nprecision: fp8\ndeployment: {tensor_parallel: 1}\n"
    "serving: {stack: vllm}\ntraffic: {input_tokens: 1000, output_tokens: 100, concurrency: 16}\n";
constexpr const char* kSentence =
    "The price of HGX/DGX H200, 8 GPUs with NVIDIA Rubin R200 (per GPU of Vera Rubin NVL72) is "
    "that "
    "of a system with h200_sxm: "
    "set system.price.per_gpu_hour";
constexpr const char* kReplaced = "system.chip=rubin_r200";

std::string indented(const std::string& text) {
  std::string out;
  for (const std::string& line : lines_of(text)) {
    out += "  " + line + "\n";
  }
  return out;
}

}  // namespace

TEST_CASE("Every answer that has a cost says in the same words that it is of another chip",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("s.yaml", std::string("system: hgx_h200\n") + kScenario);
  roofcast.write("sweep.yaml", "question: Which?\nbase:\n  system: hgx_h200\n" +
                                   indented(kScenario) +
                                   "axes:\n  system.chip: [h200_sxm, rubin_r200]\n"
                                   "pareto:\n  minimize: [cost_usd_per_mtok]\n");
  const auto says = [&](const std::vector<std::string>& command) {
    INFO(command.front());
    CHECK_THAT(roofcast.output(command), ContainsSubstring(kSentence));
  };
  says({"estimate", "s.yaml", "--set", kReplaced, "--no-replay"});
  says({"solve", "s.yaml", "--set", kReplaced, "--vary", "traffic.concurrency=1..64", "--until",
        "tpot_mean_s <= 0.05", "--no-replay"});
  says({"sweep", "sweep.yaml", "--csv", "out.csv", "--report", "page.html", "--no-replay"});
  CHECK_THAT(roofcast.read("page.html"), ContainsSubstring(kSentence));
  says({"brief", "sweep.yaml", "--no-replay"});
  roofcast.write("replaced.yaml",
                 std::string("system: {base: hgx_h200, chip: rubin_r200}\n") + kScenario);
  says({"brief", "replaced.yaml", "--no-replay"});
  const std::vector<std::string> recommend = {"recommend",
                                              "--model",
                                              "llama-3.1-8b",
                                              "--precision",
                                              "fp8",
                                              "--system",
                                              "hgx_h200",
                                              "--gpus",
                                              "1",
                                              "--stack",
                                              "vllm",
                                              "--input",
                                              "1000",
                                              "--output",
                                              "100",
                                              "--set",
                                              kReplaced,
                                              "--minimize",
                                              "cost_usd_per_mtok",
                                              "--no-replay"};
  says(recommend);
  CHECK_THAT(roofcast.output(recommend), ContainsSubstring("hgx_h200 with NVIDIA Rubin R200 (per"));

  says({"simulate", "s.yaml", "--set", kReplaced, "--set", "traffic.requests=20"});
  says({"sensitivity", "s.yaml", "--set", kReplaced});
  for (const char* command : {"simulate", "sensitivity"}) {
    INFO(command);
    CHECK(json::parse(roofcast.output({command, "s.yaml", "--set", kReplaced, "--format",
                                       "json"}))["parent_figures"] == "price of h200_sxm");
    CHECK_FALSE(json::parse(roofcast.output({command, "s.yaml", "--format", "json"}))
                    .contains("parent_figures"));
  }

  const base::CsvTable rows = base::parse_csv(roofcast.read("out.csv"), "out.csv");
  CHECK(cell(rows, 0, "parent_figures").empty());
  CHECK(cell(rows, 1, "parent_figures") == "price of h200_sxm");
  const json changed = json::parse(roofcast.output(
      {"estimate", "s.yaml", "--set", kReplaced, "--no-replay", "--format", "json"}));
  CHECK(changed["parent_figures"] == "price of h200_sxm");
  CHECK(contains(
      roofcast.output({"estimate", "s.yaml", "--set", kReplaced, "--no-replay", "--format", "csv"}),
      "parent_figures"));
  CHECK_FALSE(contains(roofcast.output({"estimate", "s.yaml", "--no-replay", "--format", "csv"}),
                       "parent_figures"));
}

TEST_CASE("A kernel and a scaled training say which figures are those of the chip before",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::vector<std::string> gemm = {
      "kernel", "gemm", "--m",    "64",       "--n",   "64",
      "--k",    "64",   "--chip", "h100_sxm", "--set", "system.chip.compute.sms=x1.15"};
  CHECK_THAT(roofcast.output(gemm),
             ContainsSubstring("under the TDP of 700 W, that of NVIDIA H100 SXM"));
  std::vector<std::string> as_json = gemm;
  as_json.emplace_back("--json");
  CHECK(json::parse(roofcast.output(as_json))["parent_figures"] == "TDP of NVIDIA H100 SXM");
  roofcast.write("run.yaml", roofcast.output({"show", "example", "llama-405b_run"}));
  const std::vector<std::string> scale = {"scale", "run.yaml", "--gpus",
                                          "8192",  "--set",    "system.chip.compute.sms=x1.15"};
  CHECK_THAT(roofcast.output(scale), ContainsSubstring("the TDP"));
  std::vector<std::string> scale_json = scale;
  scale_json.insert(scale_json.end(), {"--format", "json"});
  CHECK_THAT(json::parse(roofcast.output(scale_json))["parent_figures"].get<std::string>(),
             ContainsSubstring("TDP"));
  const std::vector<std::string> runs = {"simulate", "run.yaml", "--replications",
                                         "10",       "--set",    "system.chip.compute.sms=x1.15"};
  CHECK_THAT(roofcast.output(runs), ContainsSubstring("the TDP"));
}

TEST_CASE("solve finds the cap that leaves prompts a share of the clock", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("s.yaml",
                 "system: hgx_h200\nmodel: llama-3.1-8b\nprecision: bf16\n"
                 "deployment: {tensor_parallel: 1}\nserving: {stack: vllm}\n"
                 "traffic: {input_tokens: 8000, output_tokens: 20, concurrency: 4}\n");
  const json solved = json::parse(
      roofcast.output({"solve", "s.yaml", "--vary", "system.chip.power.cap=200 W..700 W", "--until",
                       "prefill_clock >= 0.6", "--no-replay", "--format", "json"}));
  REQUIRE(solved["found"] == true);
  CHECK(solved["metrics"]["prefill_clock"].get<double>() >= 0.6);
  CHECK(solved["metrics"]["prefill_clock"].get<double>() < 0.62);
  const std::string cap =
      "system.chip.power.cap=" + solved["values"]["system.chip.power.cap"].get<std::string>();
  CHECK(contains(roofcast.output({"estimate", "s.yaml", "--set", cap, "--no-replay"}),
                 "Prefill clock"));
  CHECK(json::parse(roofcast.output({"estimate", "s.yaml", "--set", cap, "--no-replay", "--format",
                                     "json"}))["prefill_clock"] ==
        solved["metrics"]["prefill_clock"]);
}

TEST_CASE("A power budget without PUE is told to have no answer, and why", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("s.yaml", std::string("system: hgx_h200\n") + kScenario +
                               "prices: {pay: rental, power_budget: 2 MW}\n");
  const Outcome outcome = roofcast.run({"estimate", "s.yaml", "--no-replay"});
  CHECK_THAT(outcome.out,
             ContainsSubstring("Nothing under the power budget: prices.pue is not known"));
  CHECK_THAT(outcome.err, ContainsSubstring("there is no prices.pue"));
}

TEST_CASE("check has a note where the peak of a chip is not that of its SMs and clock", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("die.yaml",
                 "base: h200_sxm\nname: my die\ncompute: {sms: 160, clock: 2 GHz}\n"
                 "tensor: {bf16: 3000 TFLOPS}\n");
  const Outcome outcome = roofcast.run({"check", "--kind", "chip", "die.yaml"});
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out, ContainsSubstring("9375 FLOP of an SM and clock"));
  CHECK_FALSE(contains(roofcast.output({"check", example("llama-70b")}), "note:"));
}

TEST_CASE("The help of collective names every algorithm with its protocol", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string help = roofcast.output({"collective", "all_reduce", "--help"});
  for (const char* name : {"ring-ll128", "tree-simple", "in-switch", "in-network"}) {
    CHECK_THAT(help, ContainsSubstring(name));
  }
}

}  // namespace roofcast::cli::cli_replaced_part
