// SPDX-License-Identifier: Apache-2.0
//
// Simulations against measured servers: closed loops of InferenceX (serving_silicon.csv of
// ai-dynamo/aiconfigurator@095f58a) and single requests of vLLM 0.19 (casys-kaist/LLMServingSim), found
// below $ROOFCAST_DATA or beside the repository. Every case prints its error.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "calibrate/error_summary.hpp"
#include "calibrate/request_runs.hpp"
#include "calibrate/serving_rows.hpp"
#include "sim/simulation_summary.hpp"
#include "tests/catch.hpp"

using namespace roofcast;

namespace {

std::optional<std::filesystem::path> measurements(const std::string& name) {
  const char* named = std::getenv("ROOFCAST_DATA");
  const char* root = std::getenv("ROOFCAST_SOURCE_DIR");
  const std::filesystem::path data =
      named != nullptr ? std::filesystem::path(named)
                       : std::filesystem::path(root != nullptr ? root : ".") / "../shared/data";
  if (!std::filesystem::exists(data / name)) {
    WARN((data / name).lexically_normal().string() << " not found, nothing validated");
    return std::nullopt;
  }
  return data / name;
}

// InferenceX's client: ten requests a client, lengths uniform from 80 % of nominal to nominal, which are
// 8/9 and 10/9 of their mean.
workloads::RequestStream client_of(const calibrate::MeasuredServer& server) {
  const auto uniform = [](std::int64_t mean) {
    const auto of_mean = [&](double share) {
      return std::llround(share * static_cast<double>(mean));
    };
    workloads::Lengths lengths;
    lengths.shape = workloads::Lengths::Shape::uniform;
    lengths.least = of_mean(8.0 / 9.0);
    lengths.most = of_mean(10.0 / 9.0);
    return lengths;
  };
  workloads::RequestStream stream;
  stream.input = uniform(server.traffic.input_tokens);
  stream.output = uniform(server.traffic.output_tokens);
  stream.concurrency = server.traffic.concurrency;
  return stream;
}

// SemiAnalysisAI/InferenceX, 70b_fp8_*_trt: batch_wait_timeout_iters 20, batch_wait_max_tokens_ratio 0.9 at
// 1024/1024 below eight GPUs.
void wait_for_batches(calibrate::MeasuredServer& server) {
  if (server.stack == "trtllm" && server.mapping.tensor_parallel < 8 &&
      server.traffic.input_tokens == 922 && server.traffic.output_tokens == 922) {
    server.serving.policy.batch_wait_iterations = 20;
    server.serving.policy.batch_wait_fill = 0.9;
  }
}

void validate(std::string_view chip, std::string_view stack, double ttft_bound, double tpot_bound) {
  const auto file = measurements("e2e/serving_silicon.csv");
  if (!file) {
    return;
  }
  const base::CsvTable table = base::read_csv(*file);
  const std::size_t source = table.column("source");
  calibrate::ServingRows rows(table);
  std::vector<calibrate::Pair> ttft;
  std::vector<calibrate::Pair> tpot;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    calibrate::MeasuredServer server = rows.row(row);
    if (!server.reason.empty() || server.model != "llama-3.1-70b" || server.chip != chip ||
        server.stack != stack || server.precision->id != "fp8" ||
        !table.cell(row, source).starts_with("inferencex")) {
      continue;
    }
    wait_for_batches(server);
    const workloads::RequestStream stream = client_of(server);
    const sim::Simulation simulation =
        simulate(server.scenario(), workloads::draw_requests(stream), stream.concurrency);
    REQUIRE(simulation.reason.empty());
    const sim::SimulationSummary summary = sim::summarise(simulation, 0, {});
    ttft.push_back({server.ttft_ms, 1e3 * summary.ttft.mean});
    tpot.push_back({server.tpot_ms, 1e3 * summary.tpot.mean});
  }
  const auto ttft_errors = calibrate::summarise(ttft);
  const auto tpot_errors = calibrate::summarise(tpot);
  WARN("llama-3.1-70b fp8 on " << chip << " by " << stack << ", simulated\n"
                               << calibrate::summary_line("tpot", tpot_errors, 0) << "\n"
                               << calibrate::summary_line("ttft", ttft_errors, 0));
  REQUIRE(ttft_errors.rows > 0);
  CHECK(ttft_errors.median <= ttft_bound);
  CHECK(tpot_errors.median <= tpot_bound);
}

}  // namespace

TEST_CASE("Simulated clients of TensorRT-LLM on H200 wait as long as measured ones",
          "[validation]") {
  validate("h200_sxm", "trtllm", 0.12, 0.08);
}
TEST_CASE("Simulated clients of vLLM on H200 wait as long as measured ones", "[validation]") {
  validate("h200_sxm", "vllm", 0.15, 0.08);
}
TEST_CASE("Simulated clients of vLLM on H100 wait as long as measured ones", "[validation]") {
  validate("h100_sxm", "vllm", 0.15, 0.10);
}

TEST_CASE(
    "A simulated minute of overload on an RTX PRO 6000 is the measured one, up to the 99th "
    "percentile",
    "[validation]") {
  const auto directory = measurements("requests/RTXPRO6000_Llama-3.1-8B");
  if (!directory) {
    return;
  }
  calibrate::ChipPlatforms platforms;
  const calibrate::Replay replay =
      calibrate::replay(calibrate::read_request_run(*directory, platforms));
  REQUIRE(replay.reason.empty());
  std::vector<double> ttft[2];
  std::vector<double> tpot[2];
  for (const calibrate::RequestPair& pair : replay.requests) {
    REQUIRE(!pair.rejected);
    ttft[0].push_back(pair.simulated.ttft());
    ttft[1].push_back(pair.measured.ttft());
    tpot[0].push_back(pair.tpot(pair.simulated));
    tpot[1].push_back(pair.tpot(pair.measured));
  }
  for (const double q : {0.5, 0.9, 0.99}) {
    const double first = calibrate::quantile(ttft[0], q) / calibrate::quantile(ttft[1], q);
    const double between = calibrate::quantile(tpot[0], q) / calibrate::quantile(tpot[1], q);
    WARN("p" << 100.0 * q << ", simulated/measured: TTFT " << first << ", TPOT " << between);
    CHECK(std::abs(first - 1.0) < 0.1);
    CHECK(std::abs(between - 1.0) < 0.1);
  }
}
