// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/request_run.hpp"

namespace roofcast::cli::cli_calibrate_validate_against {
namespace {

const std::string kServers =
    "id,backend,backend_version,model_path,system,precision,mode,isl,osl,gemm_quant_mode,"
    "batch_size,tp_size,pp_size,attention_dp_size,moe_tp_size,moe_ep_size,concurrency,"
    "silicon_ttft_ms,silicon_tpot_ms,source\n"
    "a,vllm,0.12.0,meta-llama/Llama-3.1-70B,h100_sxm,fp8,agg,1024,128,fp8,4,8,1,1,1,1,4,60,9.5,x\n"
    "b,vllm,0.12.0,meta-llama/Llama-3.1-70B,h100_sxm,fp8,agg,1024,128,fp8,8,8,1,1,1,1,8,70,10,x\n"
    "c,vllm,0.12.0,nobody/knows,h100_sxm,fp8,agg,1024,128,fp8,8,8,1,1,1,1,8,70,10,x\n";

std::vector<std::string> of_servers(std::vector<std::string> more) {
  more.insert(more.begin(), {"calibrate", "validate", "serving", "servers.csv"});
  return more;
}

}  // namespace

TEST_CASE("Against what it wrote itself, every prediction is equal and none nearer", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("servers.csv", kServers);
  roofcast.output(of_servers({"--force", "--out", "older.csv"}));
  const std::string servers = roofcast.output(of_servers({"--against", "older.csv"}));
  INFO(servers);
  for (const char* column : {"predicted_ttft_ms", "predicted_tpot_ms"}) {
    const auto lines = lines_of(servers);
    const auto line = std::find_if(lines.begin(), lines.end(), [&](const std::string& text) {
      return text.starts_with(column);
    });
    REQUIRE(line != lines.end());
    CHECK(contains(*line, " 2 "));
    CHECK(contains(*line, " 0.0%"));
    CHECK(line->ends_with("100.0%"));
  }
  CHECK(contains(servers, "not predicted here: "));

  write_run(roofcast.path("runs/RTX4090_tiny"));
  roofcast.output({"calibrate", "validate", "requests", "runs", "--force", "--out", "older.csv"});
  const std::string requests =
      roofcast.output({"calibrate", "validate", "requests", "runs", "--against", "older.csv"});
  INFO(requests);
  CHECK(contains(requests, "predicted_ttft_s"));
  CHECK(contains(requests, "100.0%"));
}

TEST_CASE("A peer that tells the measurement itself is always nearer, one far off never", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("servers.csv", kServers);
  roofcast.write("exact.csv",
                 "id,predicted_ttft_ms,predicted_tpot_ms,reason\n"
                 "a,60,950,\nb,,,too long\nd,1,1,\n");
  const std::string out = roofcast.output(of_servers({"--against", "exact.csv"}));
  INFO(out);
  const auto line_with = [&](const std::string& start) {
    for (const std::string& line : lines_of(out)) {
      if (line.starts_with(start)) {
        return line;
      }
    }
    return std::string();
  };
  CHECK(contains(line_with("predicted_ttft_ms"), " 1 "));
  CHECK(line_with("predicted_ttft_ms").find("0.0%    0.0%") != std::string::npos);
  CHECK(line_with("predicted_tpot_ms").find("100.0%   0.0%") != std::string::npos);
  CHECK(contains(line_with("not predicted there: too long"), "1"));
  CHECK(contains(line_with("not among the rows there"), "1"));  // c
  CHECK(contains(line_with("not among the rows here"), "1"));   // d
}

TEST_CASE("A peer's table that cannot be compared is refused with the place", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("servers.csv", kServers);
  const auto error = [&](const std::string& table) {
    roofcast.write("peer.csv", table);
    const Outcome outcome = roofcast.run(of_servers({"--against", "peer.csv"}));
    CHECK(outcome.code == 2);
    return outcome.err;
  };
  CHECK(contains(error("id,predicted_ttft_ms,predicted_tpot\na,1,1\n"),
                 "peer.csv: error: no column \"predicted_tpot_ms\"; did you mean"));
  CHECK(contains(error("name,predicted_ttft_ms,predicted_tpot_ms\na,1,1\n"), "no column \"id\""));
  CHECK(contains(error("id,predicted_ttft_ms,predicted_tpot_ms\na,1,1\na,2,2\n"),
                 "peer.csv:3: error: id \"a\" is that of line 2"));
  CHECK(
      contains(error("id,predicted_ttft_ms,predicted_tpot_ms\na,1,fast\n"),
               "peer.csv:2: error: predicted_tpot_ms: a number above 0 is expected, not \"fast\""));
  CHECK(contains(error("id,predicted_ttft_ms,predicted_tpot_ms\nz,1,1\n"),
                 "peer.csv: error: no row that is predicted in both"));
  roofcast.write("servers.csv", kServers + kServers.substr(kServers.find("a,vllm")));
  CHECK(contains(error("id,predicted_ttft_ms,predicted_tpot_ms\na,1,1\n"),
                 "two measured rows have the id \"a\""));
  roofcast.write("gemm.csv", "");
  const Outcome gemm =
      roofcast.run({"calibrate", "validate", "gemm", "gemm.csv", "--against", "peer.csv"});
  CHECK(gemm.code == 2);
  CHECK(contains(gemm.err, "--against is of serving and requests"));
}

}  // namespace roofcast::cli::cli_calibrate_validate_against
