// SPDX-License-Identifier: Apache-2.0
//
// Commands with a recorded trace in the scenario.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_trace {
namespace {

using nlohmann::json;

std::string trace(std::size_t requests) {
  std::string text = "arrival_s,input_tokens,output_tokens\n";
  for (std::size_t i = 0; i < requests; ++i) {
    text += fmt::format("{},{},{}\n", 1700000000.0 + 0.25 * static_cast<double>(i),
                        200 + i * 37 % 1000, 5 + i % 40);
  }
  return text;
}

std::string scenario(const std::string& trace_keys, const std::string& beside) {
  return fmt::format(
      "system: hgx_h200\nmodel: llama-3.1-70b\nprecision: fp8\ndeployment: {{tensor_parallel: 4}}\n"
      "serving: {{stack: vllm}}\ntraffic:\n  trace: {}\n{}",
      trace_keys, beside);
}

// The public trace below $ROOFCAST_DATA, or beside the repository.
std::filesystem::path azure_trace() {
  const char* data = std::getenv("ROOFCAST_DATA");
  const auto root = std::filesystem::path(example("any")).parent_path().parent_path();
  return (data != nullptr ? std::filesystem::path(data) : root / "../shared/data") / "traces" /
         "AzureLLMInferenceTrace_conv.csv";
}

}  // namespace

TEST_CASE("One command says how many GPUs carry the Azure trace at twice its rate", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::filesystem::path trace = azure_trace();
  if (!std::filesystem::exists(trace)) {
    WARN(trace.lexically_normal().string() << " not found, nothing replayed");
    return;
  }
  const std::string file = "traffic.trace.file=" + trace.string();
  const std::string answer =
      roofcast.output({"solve", example("traces/azure_trace"), "--set", file, "--vary",
                       "serving.replicas=1..8", "--until", "ttft_p99_s <= 2"});
  CHECK(contains(answer, "--set 'serving.replicas=4'"));
  CHECK(contains(answer, "confirmed: 19366 requests"));
  const auto p99 = [&](const std::string& replicas) {
    const json all =
        json::parse(roofcast.output({"simulate", example("traces/azure_trace"), "--set", file,
                                     "--set", "serving.replicas=" + replicas, "--format", "json"}));
    return all["all"]["ttft_s"]["p99"].get<double>();
  };
  CHECK(p99("4") < 2.0);
  CHECK(p99("3") > 4.0);
}

TEST_CASE("simulate says how much of a trace it replays, in text, JSON and CSV", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  std::filesystem::create_directory(roofcast.path("traces"));
  roofcast.write("traces/long.csv", trace(1500));
  // The name is relative to the scenario, not to the working directory.
  roofcast.write("traces/replay.yaml", scenario("{file: long.csv, from: 10 s, to: 5 min, speed: 2}",
                                                "  requests: 1000\n"));
  const std::string said =
      "1,000 of 1,160 requests of long.csv, from 10 s to 5 min, at 2 times its speed, ";
  CHECK(contains(roofcast.output({"simulate", "traces/replay.yaml"}), said));
  const json all = json::parse(roofcast.output(
      {"simulate", "traces/replay.yaml", "--format", "json", "--csv", "requests.csv"}));
  CHECK(all["trace"]["file"] == "traces/long.csv");
  CHECK(all["trace"]["requests"] == 1000);
  CHECK(all["trace"]["of_requests"] == 1160);
  CHECK(all["trace"]["of_recorded_requests"] == 1500);
  CHECK(all["trace"]["from_s"] == 10.0);
  CHECK(all["trace"]["to_s"] == 300.0);
  CHECK(all["trace"]["speed"] == 2.0);
  const base::CsvTable requests = base::read_csv(roofcast.path("requests.csv"));
  REQUIRE(requests.rows() == 1000);
  CHECK(cell(requests, 0, "trace") == "long.csv");
  CHECK(cell(requests, 2, "trace_arrival_s") == "10.5");
  CHECK(cell(requests, 2, "arrival_s") == "0.25");
  CHECK(cell(requests, 2, "of_requests") == "1160");
}

TEST_CASE("simulate --trace is a scenario with that trace, and says what it replaces", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("long.csv", trace(6000));
  const Outcome outcome =
      roofcast.run({"simulate", example("azure_conversation"), "--trace", "long.csv"});
  CHECK(outcome.code == 0);
  CHECK(contains(outcome.out, "5,000 of 6,000 requests of long.csv, "));
  CHECK(outcome.err ==
        "note: --trace long.csv replaces traffic.input_tokens, "
        "traffic.output_tokens, traffic.arrivals of the scenario\n");
  roofcast.write("same.yaml", scenario("long.csv", ""));
  const Outcome same = roofcast.run({"simulate", "same.yaml", "--trace", "long.csv"});
  CHECK(same.err == "note: --trace long.csv replaces traffic.trace of the scenario\n");
  CHECK(same.out == roofcast.output({"simulate", "same.yaml"}));
  CHECK(contains(same.out, "\n6,000 requests of long.csv, 4 a second, "));
  // Its other keys stay.
  CHECK(contains(roofcast.output({"simulate", "same.yaml", "--set", "traffic.trace={speed: 2}",
                                  "--trace", "long.csv"}),
                 "at 2 times its speed, 8 a second"));
}

TEST_CASE("estimate, sweep, solve, sensitivity and brief take a trace", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("long.csv", trace(1500));
  roofcast.write("replay.yaml", scenario("{file: long.csv}", ""));
  CHECK(contains(roofcast.output({"estimate", "replay.yaml"}), "4 requests a second"));
  CHECK(contains(roofcast.output({"estimate", "replay.yaml", "--set", "traffic.trace.speed=2"}),
                 "8 requests a second"));
  std::filesystem::create_directory(roofcast.path("sweeps"));
  roofcast.write("sweeps/speeds.yaml",
                 "base: ../replay.yaml\naxes:\n  traffic.trace.speed: [1, 2, 4]\n");
  roofcast.run({"sweep", "sweeps/speeds.yaml", "--csv", "speeds.csv"});
  const base::CsvTable speeds = base::read_csv(roofcast.path("speeds.csv"));
  REQUIRE(speeds.rows() == 3);
  CHECK(number(speeds, 1, "utilisation") ==
        Approx(2.0 * number(speeds, 0, "utilisation")).epsilon(0.01));
  CHECK(number(speeds, 2, "ttft_mean_s") > number(speeds, 0, "ttft_mean_s"));
  CHECK(contains(roofcast.output({"solve", "replay.yaml", "--vary", "traffic.trace.speed=0.1..100",
                                  "--until", "tpot_mean_s <= 0.02"}),
                 "traffic.trace.speed"));
  CHECK(contains(roofcast.output({"sensitivity", "replay.yaml"}), "system.chip.hbm.bandwidth"));
  CHECK(contains(roofcast.output({"brief", "replay.yaml"}), "4 requests a second"));
}

TEST_CASE("A key that a trace replaces is an error with its place", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("short.csv", trace(20));
  roofcast.write("both.yaml", scenario("short.csv", "  concurrency: 64\n"));
  const Outcome both = roofcast.run({"estimate", "both.yaml"});
  CHECK(both.code == 2);
  CHECK(contains(both.err,
                 "both.yaml:8:16: error: traffic.concurrency: has no effect beside a "
                 "trace, which has its own; remove it or the trace\n  concurrency: 64\n"
                 "               ^"));
  roofcast.write("broken.csv", "arrival_s,input_tokens,output_tokens\n1,2\n");
  const Outcome broken =
      roofcast.run({"estimate", "both.yaml", "--set", "traffic={trace: broken.csv}"});
  CHECK(broken.code == 2);
  CHECK(contains(broken.err,
                 "traffic.trace: broken.csv:2: error: 2 cells, but the first line has 3"));
}

TEST_CASE(
    "A page of a replayed trace has the name of the trace, and of its path only what the command "
    "line says",
    "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("long.csv", trace(100));
  roofcast.write("s.yaml", base::read_text(example("llama-70b")));
  roofcast.output(
      {"simulate", "s.yaml", "--trace", roofcast.path("long.csv").string(), "--report", "x.html"});
  const std::string page = roofcast.read("x.html");
  CHECK(contains(page, "long.csv"));
  const auto made_by = page.find("id=\"made_by\"");
  REQUIRE(made_by != std::string::npos);
  CHECK(!contains(page.substr(0, made_by), roofcast.path("").string()));
  CHECK(!contains(page.substr(page.find("</script>", made_by)), roofcast.path("").string()));
}

}  // namespace roofcast::cli::cli_trace
