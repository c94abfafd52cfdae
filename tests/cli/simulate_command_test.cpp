// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli {
namespace {

using nlohmann::json;

const std::string kStream =
    "traffic={input_tokens: {uniform: [500, 1500]}, output_tokens: {uniform: [50, 150]}, arrivals: "
    "{process: poisson, rate: 6 /s}, requests: 200, objectives: {ttft: 200 ms, tpot: 20 ms}}";

std::vector<std::string> simulate(const std::vector<std::string>& options) {
  std::vector<std::string> arguments = {"simulate", example("llama-70b"), "--set", kStream};
  arguments.insert(arguments.end(), options.begin(), options.end());
  return arguments;
}

}  // namespace

TEST_CASE("simulate tells percentiles, load and goodput", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const Outcome outcome = roofcast.run(simulate({"--warm-up", "20"}));
  CHECK(outcome.code == 0);
  CHECK(outcome.err.empty());
  for (const char* part :
       {"Llama-3.1-70B on ", "200 requests", "p99", "TTFT", "TPOT", "end to end", "waiting",
        "running", "KV cache", "good: ", "tok/s out per GPU", "Without the first 20 requests"}) {
    INFO(part);
    CHECK(contains(outcome.out, part));
  }
}

TEST_CASE("The tables of simulate have every request and every second, and agree with the summary",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const json all = json::parse(roofcast.output(
      simulate({"--csv", "requests.csv", "--timeline", "seconds.csv", "--format", "json"})));
  const base::CsvTable requests = base::read_csv(roofcast.path("requests.csv"));
  CHECK(requests.rows() == 200);
  double sum = 0.0;
  double tokens = 0.0;
  for (std::size_t row = 0; row < requests.rows(); ++row) {
    sum += number(requests, row, "ttft_s");
    tokens += number(requests, row, "output_tokens");
  }
  CHECK(all["all"]["ttft_s"]["mean"].get<double>() == Approx(sum / 200.0));
  const base::CsvTable seconds = base::read_csv(roofcast.path("seconds.csv"));
  double output = 0.0;
  for (std::size_t row = 0; row < seconds.rows(); ++row) {
    output += number(seconds, row, "output_tokens");
  }
  CHECK(output == tokens);
}

TEST_CASE("The same seed gives the same bytes", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string first = roofcast.output(simulate({"--seed", "3"}));
  CHECK(first == roofcast.output(simulate({"--seed", "3"})));
  CHECK(first != roofcast.output(simulate({"--seed", "4"})));
}

TEST_CASE("Times are told by priority where requests differ in it", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::vector<std::string> mix = {"--set",
                                        "traffic.priorities={values: [0, 5], weights: [3, 1]}",
                                        "--set", "serving.scheduler={queue: priority}"};
  const std::string out = roofcast.output(simulate(mix));
  CHECK(contains(out, "\npriority  requests  TTFT p50"));
  CHECK(out.find("\n       5  ") < out.find("\n       0  "));
  std::vector<std::string> json_mix = mix;
  json_mix.insert(json_mix.end(), {"--format", "json", "--csv", "requests.csv"});
  const json all = json::parse(roofcast.output(simulate(json_mix)));
  const base::CsvTable requests = base::read_csv(roofcast.path("requests.csv"));
  std::size_t urgent = 0;
  for (std::size_t row = 0; row < requests.rows(); ++row) {
    urgent += cell(requests, row, "priority") == "5" ? 1 : 0;
  }
  CHECK(urgent > 20);
  CHECK(all["by_priority"]["5"]["requests"] == urgent);
  CHECK(all["by_priority"]["0"]["requests"] == 200 - urgent);
  CHECK(!contains(roofcast.output(simulate({})), "\npriority"));
}

TEST_CASE("Host memory for the KV cache needs a link whose rate is known", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::vector<std::string> unknown = {"--set",
                                            "system.chip.pcie.bandwidth_per_direction=null",
                                            "--set", "serving.kv_offload={capacity: 1 TB}"};
  const Outcome refused = roofcast.run(simulate(unknown));
  CHECK(refused.code == 2);
  CHECK(contains(refused.err, "needs a bandwidth: the PCIe port of the chip is not known"));
  std::vector<std::string> known = unknown;
  known.back() = "serving.kv_offload={capacity: 1 TB, bandwidth: 50 GB/s}";
  CHECK(contains(roofcast.output(simulate(known)), "TTFT"));
}

TEST_CASE("A trace is replayed at its own times", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("trace.csv",
                 "arrival_s,input_tokens,output_tokens\n0,1000,10\n0.5,2000,20\n7,100,1\n");
  roofcast.run({"simulate", example("llama-70b"), "--trace", "trace.csv", "--csv", "out.csv"});
  const base::CsvTable out = base::read_csv(roofcast.path("out.csv"));
  REQUIRE(out.rows() == 3);
  CHECK(cell(out, 1, "arrival_s") == "0.5");
  CHECK(cell(out, 1, "input_tokens") == "2000");
  CHECK(cell(out, 2, "arrival_s") == "7");
  CHECK(cell(out, 2, "tpot_s").empty());  // of one token
}

TEST_CASE("simulate says why a scenario does not run", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::vector<std::string> arguments = {"simulate", example("llama-70b"), "--set",
                                              "deployment.tensor_parallel=16"};
  const Outcome outcome = roofcast.run(arguments);
  CHECK(outcome.code == 0);
  CHECK(contains(outcome.out, "does not run: needs 16 GPUs"));
}

TEST_CASE("estimate takes the stream that simulate serves", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string text = roofcast.output({"estimate", example("llama-70b"), "--set", kStream});
  CHECK(contains(text, "requests a second"));
  CHECK(contains(text, "Utilisation"));
}

}  // namespace roofcast::cli
