// SPDX-License-Identifier: Apache-2.0
#include "calibrate/servers/request_runs.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>

#include "tests/catch.hpp"
#include "tests/request_run.hpp"

namespace roofcast::unit_calibrate_request_runs {

namespace fs = std::filesystem;

namespace {

// A directory of its own, which goes when it goes.
class Runs {
 public:
  Runs() : path_(fs::temp_directory_path() / fmt::format("roofcast-runs-{}", getpid())) {
    fs::create_directories(path_);
  }
  ~Runs() { fs::remove_all(path_); }
  Runs(const Runs&) = delete;
  Runs& operator=(const Runs&) = delete;

  fs::path path(const std::string& name) const { return path_ / name; }
  fs::path run(const std::string& name) const {
    write_run(path(name));
    return path(name);
  }

 private:
  fs::path path_;
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

calibrate::RequestRun read(const fs::path& directory) {
  static calibrate::ChipPlatforms platforms;
  return calibrate::read_request_run(directory, platforms);
}

std::string error_of(const fs::path& directory) {
  try {
    read(directory);
  } catch (const base::InputError& error) {
    return error.what();
  }
  return "";
}

calibrate::RequestTimes times_of(double start, double first_token, double last_token) {
  return {start * base::second, first_token * base::second, last_token * base::second};
}

std::string line(base::Seconds arrival, const calibrate::RequestTimes& times, std::int64_t input,
                 std::int64_t output) {
  return fmt::format(
      "{{\"input_toks\": {}, \"output_toks\": {}, \"arrival_time\": {}, \"queued_ts\": {}, "
      "\"first_token_ts\": {}, \"last_token_ts\": {}}}\n",
      input, output, arrival.si(), times.start.si(), times.first_token.si(), times.last_token.si());
}

}  // namespace

TEST_CASE("A measured run is the scenario that its engine was set to", "[unit]") {
  const Runs runs;
  const fs::path directory = runs.run("RTX4090_tiny");
  write_text(
      directory / "meta.json",
      replaced(replaced(kRunMeta, "\"auto\"", "\"fp8\""), "\n}\n",
               ", \"kv_cache\": {\"gpu_memory_utilization\": 0.8, \"num_kv_tokens\": 41408}}\n"));
  const calibrate::RequestRun run = read(directory);
  CHECK(run.reason.empty());
  CHECK(run.model == "llama-3.1-8b");
  CHECK(run.chip == "rtx_4090");
  CHECK(run.serving.stack.id == "vllm");
  CHECK(run.serving.limits.max_sequences == 64);
  CHECK(run.serving.limits.max_tokens_per_iteration == 2048);
  CHECK(run.serving.limits.memory_fraction == 0.8);
  CHECK(run.precision.mlp.weights == base::NumberFormat::bf16);
  CHECK(run.precision.kv_cache == base::NumberFormat::fp8);
  CHECK(run.mapping.ranks() == 1);
  CHECK(run.cache_tokens == 41408);
}

TEST_CASE("A run's config.json names the GPU, else its directory does", "[unit]") {
  const Runs runs;
  const fs::path directory = runs.run("RTX4090_tiny");
  CHECK(read(directory).chip == "rtx_4090");
  write_text(directory / "config.json",
             R"({"nodes": [{"instances": [{"hardware": "RTXPRO6000", "num_npus": 1}]}]})");
  CHECK(read(directory).chip == "rtx_pro_6000_server");
}

TEST_CASE("Requests of a run are in the order they arrived, with their own columns", "[unit]") {
  const Runs runs;
  const calibrate::RequestRun run = read(runs.run("RTX4090_tiny"));
  REQUIRE(run.requests.size() == 2);
  REQUIRE(run.columns.front() == "request_id");
  CHECK(run.requests[0].cells.front() == "a");
  CHECK(run.requests[1].cells.front() == "b");
}

TEST_CASE(
    "Times to first tokens are from the queue on, or from the arrival where one clock told both",
    "[unit]") {
  const Runs runs;
  const fs::path directory = runs.run("RTX4090_tiny");
  const calibrate::RequestRun two_clocks = read(directory);
  CHECK(!two_clocks.one_clock);
  CHECK(calibrate::replay(two_clocks).requests[0].measured.ttft().si() == Approx(0.2));
  CHECK(calibrate::replay(two_clocks).requests[0].tpot(times_of(0.0, 7.2, 7.4)).si() ==
        Approx(0.02));

  write_text(directory / "requests.jsonl",
             line(6.9 * base::second, times_of(7.0, 7.2, 7.4), 1024, 11));
  const calibrate::RequestRun one_clock = read(directory);
  CHECK(one_clock.one_clock);
  const calibrate::RequestPair pair = calibrate::replay(one_clock).requests[0];
  CHECK(pair.measured.ttft().si() == Approx(0.3));
  // The simulated request meets the stack's overhead before the queue.
  CHECK(pair.simulated.ttft().si() ==
        Approx((calibrate::replay(two_clocks).requests[0].simulated.ttft() +
                workloads::request_time(one_clock.serving.stack, 1024))
                   .si()));
}

TEST_CASE("A run that took the times of its simulation is simulated without error", "[unit]") {
  const Runs runs;
  const fs::path directory = runs.run("RTX4090_tiny");
  std::string lines;
  for (int i = 0; i < 40; ++i) {
    lines += line((1000.0 + 0.05 * i) * base::second, times_of(1.0, 2.0, 3.0), 200 + 50 * i,
                  1 + 7 * (i % 5));
  }
  write_text(directory / "requests.jsonl", lines);
  const calibrate::RequestRun run = read(directory);
  std::string simulated;
  for (std::size_t i = 0; i < run.requests.size(); ++i) {
    const calibrate::MeasuredRequest& request = run.requests[i];
    simulated += line(request.arrival, calibrate::replay(run).requests[i].simulated,
                      request.input_tokens, request.output_tokens);
  }
  write_text(directory / "requests.jsonl", simulated);
  for (const calibrate::RequestPair& pair : calibrate::replay(read(directory)).requests) {
    CHECK(pair.measured.ttft().si() == Approx(pair.simulated.ttft().si()));
    if (pair.output_tokens > 1) {
      CHECK(pair.tpot(pair.measured).si() == Approx(pair.tpot(pair.simulated).si()));
    } else {
      CHECK(std::isnan(pair.tpot(pair.measured).si()));
    }
  }
}

TEST_CASE("Loads differ by the mean over the seconds that either has", "[unit]") {
  const Runs runs;
  const fs::path directory = runs.run("RTX4090_tiny");
  const calibrate::LoadDifference running = calibrate::replay(read(directory)).running;
  CHECK(running.measured == Approx(1.0));  // 2 and 0
  CHECK(running.simulated > 0.0);
  CHECK(running.simulated < 2.0);
  write_text(directory / "timeseries.csv", "t,running,waiting\n1.0,0,0\n2.0,0,0\n");
  const calibrate::LoadDifference idle = calibrate::replay(read(directory)).running;
  CHECK(idle.difference == Approx(running.simulated));
  fs::remove(directory / "timeseries.csv");
  CHECK(std::isnan(calibrate::replay(read(directory)).running.difference));
}

TEST_CASE("A request longer than the simulated KV cache is rejected, a shorter one is not",
          "[unit]") {
  const Runs runs;
  const fs::path directory = runs.run("RTX4090_tiny");
  const std::int64_t most = calibrate::replay(read(directory)).cache_tokens;
  CHECK(most > 1000);
  write_text(directory / "requests.jsonl",
             line(100.0 * base::second, times_of(1.0, 2.0, 3.0), most - 16, 10) +
                 line(200.0 * base::second, times_of(1.0, 2.0, 3.0), most + 1, 10));
  const calibrate::Replay replay = calibrate::replay(read(directory));
  CHECK(!replay.requests[0].rejected);
  CHECK(replay.requests[1].rejected);
}

TEST_CASE("A run that is no scenario says why", "[unit]") {
  const Runs runs;
  CHECK(read(runs.run("H100_tiny")).reason.starts_with("H100 may be h100_"));
  CHECK(read(runs.run("TPU9_tiny")).reason == "TPU9 is not in the catalog");
  const fs::path directory = runs.run("RTX4090_tiny");
  write_text(directory / "meta.json", replaced(kRunMeta, "bfloat16", "float8"));
  CHECK(read(directory).reason == "no precision with dtype float8 and kv_cache_dtype auto");
  write_text(directory / "meta.json", replaced(kRunMeta, "8B-Instruct", "8B-FP8"));
  CHECK(read(directory).reason == "meta-llama/Llama-3.1-8B-FP8 is not in the catalog");
}

TEST_CASE("Runs are found below a directory, and none is an error", "[unit]") {
  const Runs runs;
  runs.run("b/RTX4090_tiny");
  runs.run("a");
  const auto found = calibrate::request_runs(runs.path(""));
  REQUIRE(found.size() == 2);
  CHECK(found[0].filename() == "a");
  CHECK(calibrate::request_runs(found[1]).size() == 1);
  fs::create_directories(runs.path("empty"));
  CHECK_THROWS_AS(calibrate::request_runs(runs.path("empty")), base::InputError);
  CHECK_THROWS_AS(calibrate::request_runs(runs.path("absent")), base::InputError);
}

TEST_CASE("What cannot be read of a run is told with file, line and key", "[unit]") {
  struct Case {
    const char* file;
    std::string text;
    const char* message;
  };
  const Case cases[] = {
      {"meta.json", replaced(kRunMeta, "64", "0"),
       "meta.json:4:21: error: engine_kwargs.max_num_seqs: "},
      {"meta.json", replaced(kRunMeta, "\"model\"", "\"modle\""),
       "error: engine_kwargs.model: the key \"model\" is required"},
      {"meta.json", "{", "meta.json:"},
      {"requests.jsonl", "", "requests.jsonl: error: no request"},
      {"requests.jsonl", replaced(kRunRequests, "1024", "1024.5"),
       "requests.jsonl:2:35: error: input_toks: "},
      {"requests.jsonl", replaced(kRunRequests, "7.2", "6.9"),
       "error: first_token_ts: is not after queued_ts"},
      {"requests.jsonl", replaced(kRunRequests, "7.4", "7.2"),
       "error: last_token_ts: is not after first_token_ts"},
      {"requests.jsonl", kRunRequests + "[1]\n", "requests.jsonl:3:1: error: "},
      {"timeseries.csv", "t,running\n1,2\n", "waiting"},
      {"timeseries.csv", "t,running,waiting\n1,2,3\n2,-1,0\n",
       "timeseries.csv:3: error: running: a number from 0 to 1e9 is expected, not \"-1\""},
      {"config.json", R"({"nodes": [{"instances": [{}]}]})",
       "error: nodes[0].instances[0].hardware: the key \"hardware\" is required"},
  };
  const Runs runs;
  for (const Case& bad : cases) {
    const fs::path directory = runs.run("RTX4090_tiny");
    write_text(directory / bad.file, bad.text);
    const std::string error = error_of(directory);
    INFO(bad.file << "\n" << bad.text << "\n" << error);
    CHECK(error.find(bad.message) != std::string::npos);
    fs::remove_all(directory);
  }
}

}  // namespace roofcast::unit_calibrate_request_runs
