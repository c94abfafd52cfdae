// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/request_run.hpp"

namespace roofcast::cli::cli_calibrate_validate_simulation {

TEST_CASE("validate simulation prints the agreement of every metric and writes every scenario",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string out = roofcast.output({"calibrate", "validate", "simulation", "--scenarios",
                                           "3", "--seed", "2", "--out", "rows.csv"});
  for (const char* part : {"metric", "median error", "ttft_mean_s", "tpot_mean_s", "ttft_p95_s",
                           "tpot_p95_s", "estimates: scenarios=3 refused="}) {
    INFO(part << "\n" << out);
    CHECK(contains(out, part));
  }
  const base::CsvTable rows = base::read_csv(roofcast.path("rows.csv"));
  REQUIRE(rows.rows() == 3);
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    CHECK(number(rows, row, "simulated_ttft_mean_s") > 0.0);
    CHECK(contains(std::string(cell(rows, row, "scenario")), "serving: {stack: "));
  }
}

TEST_CASE("validate simulation --check-only says what better hardware makes slower", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string out =
      roofcast.output({"calibrate", "validate", "simulation", "--check-only", "--scenarios", "20"});
  CHECK(!contains(out, "median error"));
  CHECK(contains(out, "estimates: scenarios=20 refused="));
  CHECK(contains(out, "better hardware: 0 estimates are contradicted by the simulator"));
}

TEST_CASE("validate simulation takes no table, and the tables nothing of it", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const auto error = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"calibrate", "validate"});
    const Outcome outcome = roofcast.run(more);
    CHECK(outcome.code == 2);
    return outcome.err;
  };
  CHECK(contains(error({"simulation", "rows.csv"}), "draws its scenarios"));
  CHECK(contains(error({"gemm", "gemm.csv", "--seed", "2"}), "are of validate simulation"));
  CHECK(contains(error({"gemm", "gemm.csv", "--report", "a.html"}), "--report is of requests"));
}

}  // namespace roofcast::cli::cli_calibrate_validate_simulation
