// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/request_run.hpp"

namespace roofcast::cli::cli_calibrate_validate_requests {

TEST_CASE("validate requests tells percentiles, rates and loads of every run, and sums up",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_run(roofcast.path("runs/RTX4090_tiny"));
  write_run(roofcast.path("runs/TPU9_tiny"));
  const std::string out = roofcast.output({"calibrate", "validate", "requests", "runs"});
  for (const char* part :
       {"RTX4090_tiny: llama-3.1-8b on rtx_4090, 2 requests, TTFT from the queue on", "TTFT p99",
        "TPOT mean", "requests/s", "output tok/s", "running", "waiting",
        "not simulated: TPU9 is not in the catalog",
        "\nttft: rows=2 skipped=2 mape=", "\ntpot: rows=1 skipped=3 mape="}) {
    INFO(part << "\n" << out);
    CHECK(contains(out, part));
  }
}

TEST_CASE("validate requests writes every request with its own columns and its prediction",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_run(roofcast.path("runs/RTX4090_tiny"));
  write_run(roofcast.path("runs/TPU9_tiny"));
  roofcast.output({"calibrate", "validate", "requests", "runs", "--out", "errors.csv"});
  const base::CsvTable errors = base::read_csv(roofcast.path("errors.csv"));
  REQUIRE(errors.rows() == 4);
  CHECK(cell(errors, 0, "run") == "RTX4090_tiny");
  CHECK(cell(errors, 0, "request_id") == "a");
  CHECK(cell(errors, 0, "arrival_time") == "1000.0");
  CHECK(number(errors, 0, "measured_ttft_s") == Approx(0.2));
  CHECK(number(errors, 0, "measured_tpot_s") == Approx(0.02));
  CHECK(number(errors, 0, "predicted_ttft_s") > 0.0);
  CHECK(number(errors, 0, "predicted_tpot_s") > 0.0);
  CHECK(cell(errors, 1, "predicted_tpot_s").empty());  // of one token
  CHECK(cell(errors, 2, "predicted_ttft_s").empty());
  CHECK(cell(errors, 2, "reason") == "TPU9 is not in the catalog");
}

TEST_CASE("validate requests says what is wrong with its directory", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_run(roofcast.path("runs/RTX4090_tiny"));
  const auto error = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"calibrate", "validate", "requests"});
    const Outcome outcome = roofcast.run(more);
    CHECK(outcome.code == 2);
    return outcome.err;
  };
  CHECK(contains(error({"absent"}), "absent: error: is not a directory"));
  CHECK(contains(error({"runs", "--where", "run=a"}), "--where is of tables"));
  std::filesystem::remove(roofcast.path("runs/RTX4090_tiny/requests.jsonl"));
  CHECK(contains(error({"runs"}), "requests.jsonl"));
}

}  // namespace roofcast::cli::cli_calibrate_validate_requests
