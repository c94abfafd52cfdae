// SPDX-License-Identifier: Apache-2.0
//
// Forecasts against measured servers (calibrate/measurements/e2e/serving_silicon.yaml says whose). Every case prints
// its error.
#include <cstdlib>
#include <limits>

#include "calibrate/platforms/error_summary.hpp"
#include "calibrate/servers/serving_rows.hpp"
#include "tests/catch.hpp"
#include "tests/measurements.hpp"

namespace roofcast::validation_measured_servers {

using calibrate::MeasuredServer;

namespace {

base::CsvTable measurements() { return base::read_csv(measured_table("e2e", "serving_silicon")); }

bool any(const MeasuredServer& server) { return !server.pools; }

// Of two pools whose configuration is known not to speculate; many clients take long to simulate.
bool is_small_and_disaggregated(const MeasuredServer& server) {
  return server.pools && !server.may_speculate && server.traffic.concurrency <= 64;
}

// The rows of one case: a server, and what else selects it.
struct Case {
  std::string_view model, chip, stack, precision;
  double bound;  // of the median |TPOT error|; it may only be lowered
  bool (*selects)(const MeasuredServer&) = any;
  double ttft_bound = std::numeric_limits<double>::infinity();  // of the median |TTFT error|
};

bool is_of(const Case& c, const MeasuredServer& server) {
  return server.reason.empty() && server.model == c.model && server.chip == c.chip &&
         server.stack == c.stack && server.precision->id == c.precision && c.selects(server);
}

// 1024/1024 nominal, 90 % of it on average, one node of eight GPUs, 4–64 clients.
bool is_chat_on_eight(const MeasuredServer& server) {
  return !server.pools && server.mapping.tensor_parallel == 8 &&
         server.traffic.input_tokens == 922 && server.traffic.output_tokens == 922 &&
         server.traffic.concurrency <= 64;
}

void validate(const Case& c) {
  const base::CsvTable table = measurements();
  calibrate::ServingRows rows(table);
  sim::Workspace workspace;
  std::vector<calibrate::Pair> tpot;
  std::vector<calibrate::Pair> ttft;
  std::size_t skipped = 0;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const MeasuredServer server = rows.row(row);
    if (!is_of(c, server)) {
      continue;
    }
    const auto predicted = calibrate::forecast(server, workspace);
    if (!predicted.predicted()) {
      ++skipped;
      continue;
    }
    tpot.push_back({server.tpot_ms, predicted.tpot_ms});
    ttft.push_back({server.ttft_ms, predicted.ttft_ms});
  }
  const auto errors = calibrate::summarise(tpot);
  const auto ttft_errors = calibrate::summarise(ttft);
  WARN(c.model << " " << c.precision << " on " << c.chip << " by " << c.stack << "\n"
               << calibrate::summary_line("tpot", errors, skipped) << "\n"
               << calibrate::summary_line("ttft", ttft_errors, skipped));
  REQUIRE(errors.rows > 0);
  CHECK(errors.median <= c.bound);
  CHECK(ttft_errors.median <= c.ttft_bound);
}

}  // namespace

TEST_CASE("Llama-3.1-70B on eight H100 decodes as fast as vLLM was measured", "[validation]") {
  validate({"llama-3.1-70b", "h100_sxm", "vllm", "fp8", 0.09, is_chat_on_eight});
}

TEST_CASE("Llama-3.1-70B on eight H200 decodes as fast as TensorRT-LLM was measured",
          "[validation]") {
  validate({"llama-3.1-70b", "h200_sxm", "trtllm", "fp8", 0.05, is_chat_on_eight});
}

TEST_CASE("Clients of Llama-3.1-70B on H200 wait as long as with TensorRT-LLM", "[validation]") {
  validate({"llama-3.1-70b", "h200_sxm", "trtllm", "fp8", 0.05, any, 0.085});
}
TEST_CASE("Clients of Llama-3.1-70B on H200 wait as long as with vLLM", "[validation]") {
  validate({"llama-3.1-70b", "h200_sxm", "vllm", "fp8", 0.05, any, 0.10});
}
TEST_CASE("Clients of Llama-3.1-70B on H100 wait as long as with vLLM", "[validation]") {
  validate({"llama-3.1-70b", "h100_sxm", "vllm", "fp8", 0.07, any, 0.205});
}

TEST_CASE("Llama-3.1-8B in bf16 on H100 decodes as fast as TensorRT-LLM was measured",
          "[validation]") {
  validate({"llama-3.1-8b", "h100_sxm", "trtllm", "bf16", 0.05});
}

TEST_CASE("DeepSeek-V3 on H200 decodes as fast as SGLang was measured", "[validation]") {
  validate({"deepseek-v3", "h200_sxm", "sglang", "fp8_block", 0.25});
}
TEST_CASE("DeepSeek-V3 on H200 decodes as fast as TensorRT-LLM was measured", "[validation]") {
  validate({"deepseek-v3", "h200_sxm", "trtllm", "fp8_block", 0.18});
}

TEST_CASE("Llama-3.1-70B in NVFP4 on B200 decodes as fast as TensorRT-LLM was measured",
          "[validation]") {
  validate({"llama-3.1-70b", "b200_sxm", "trtllm", "nvfp4", 0.03, any, 0.07});
}
TEST_CASE("DeepSeek-V3 in NVFP4 on B200 decodes as fast as TensorRT-LLM was measured",
          "[validation]") {
  validate({"deepseek-v3", "b200_sxm", "trtllm", "deepseek_nvfp4", 0.08});
}

TEST_CASE("gpt-oss-120b on B200 decodes as fast as vLLM was measured", "[validation]") {
  validate({"gpt-oss-120b", "b200_sxm", "vllm", "mxfp4_experts_fp8", 0.11});
}
TEST_CASE("gpt-oss-120b on B200 decodes as fast as TensorRT-LLM was measured", "[validation]") {
  validate({"gpt-oss-120b", "b200_sxm", "trtllm", "mxfp4_experts_fp8", 0.08});
}

TEST_CASE("gpt-oss-120b on H200 decodes as fast as vLLM was measured", "[validation]") {
  validate({"gpt-oss-120b", "h200_sxm", "vllm", "mxfp4_experts", 0.13});
}

TEST_CASE("Qwen3-32B in bf16 on H100 decodes as fast as vLLM was measured", "[validation]") {
  validate({"qwen3-32b", "h100_sxm", "vllm", "bf16", 0.06});
}

TEST_CASE("MiniMax-M2 on H200 decodes as fast as vLLM was measured", "[validation]") {
  validate({"minimax-m2", "h200_sxm", "vllm", "fp8_block", 0.06});
}

TEST_CASE("DeepSeek-V3 on two pools of GB200 decodes as fast as TensorRT-LLM was measured",
          "[validation]") {
  validate({"deepseek-v3", "gb200", "trtllm", "deepseek_nvfp4", 0.12, is_small_and_disaggregated});
}

// The dumps write one deployment in three ways; a row's id, where it has them, holds the sizes as
// the benchmark's author gave them.
TEST_CASE("A row's parallel sizes are those in its id", "[validation]") {
  const base::CsvTable table = measurements();
  calibrate::ServingRows rows(table);
  const std::size_t id = table.column("id");
  const std::size_t date = table.column("measured_date");
  const std::size_t version = table.column("backend_version");
  std::size_t compared = 0;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const std::string name(table.cell(row, id));
    const auto tp_at = name.rfind("_tp");
    const auto ep_at = name.rfind("_ep");
    const MeasuredServer server = rows.row(row);
    if (server.pools || !server.reason.empty() || tp_at == std::string::npos ||
        ep_at == std::string::npos || name.find("_epnone") != std::string::npos) {
      continue;
    }
    const std::int64_t width = std::atoll(name.c_str() + tp_at + 3);
    // Two scripts of MiniMax-M2 turn expert parallelism on where 1 is asked for.
    const std::string_view of = table.cell(row, version);
    const bool whole = server.model == "minimax-m2" &&
                       (server.chip == "h200_sxm" ? of != "0.16.0" : of == "0.17.0");
    const std::int64_t experts = whole ? width : std::atoll(name.c_str() + ep_at + 3);
    INFO(name);
    CHECK(server.mapping.ranks() == width);
    // The first scripts chose expert parallelism themselves (calibrate/conventions/server_rows.yaml).
    const bool chosen = experts == 1 && table.cell(row, date) <= "2025-11-10";
    CHECK((server.mapping.expert_parallel == experts ||
           (chosen && server.mapping.expert_parallel == width)));
    ++compared;
  }
  CHECK(compared > 0);
}

TEST_CASE("Every row is forecast or has a reason why not", "[validation]") {
  const base::CsvTable table = measurements();
  calibrate::ServingRows rows(table);
  sim::Workspace workspace;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const MeasuredServer server = rows.row(row);
    if (server.pools && server.traffic.concurrency > 64) {
      continue;  // takes long to simulate
    }
    const auto predicted = calibrate::forecast(server, workspace);
    INFO("row " << row);
    if (predicted.predicted()) {
      CHECK(predicted.tpot_ms > 0.0);
      CHECK(predicted.ttft_ms > 0.0);
      CHECK_FALSE(predicted.provenance.empty());
    } else {
      CHECK_FALSE(predicted.explanation.empty());
    }
  }
}

}  // namespace roofcast::validation_measured_servers
