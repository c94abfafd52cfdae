// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/two_pool_columns.hpp"

namespace roofcast::cli::cli_calibrate_validate_serving {
namespace {

// DeepSeek-R1 in two pools of B200, 32 clients; a dump that says nothing of workers.
std::string table_of(const std::vector<std::string>& rows) {
  std::string text = two_pool_columns();
  for (const std::string& row : rows) {
    text += "\n" + row;
  }
  return text + "\n";
}

std::string row_of(const char* id, double tpot) {
  return fmt::format(
      "{},inferencex,disagg,deepseek-ai/DeepSeek-R1,b200_sxm,trtllm,,fp8,fp8,1024,1024,32,"
      "2026-03-23,300,{},,,,,,,,,8,1,1,8,,8,1,1,8",
      id, tpot);
}

base::CsvTable validated(const Program& roofcast, const std::vector<std::string>& rows) {
  roofcast.write("rows.csv", table_of(rows));
  roofcast.output(
      {"calibrate", "validate", "serving", "rows.csv", "--force", "--out", "errors.csv"});
  return base::parse_csv(roofcast.read("errors.csv"), "errors.csv");
}

}  // namespace

TEST_CASE("A row alone has the forecast that it has in the whole file", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::vector<std::string> rows = {row_of("a", 11.0), row_of("b", 5.2), row_of("c", 5.2)};
  const base::CsvTable all = validated(roofcast, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const base::CsvTable alone = validated(roofcast, {rows[i]});
    for (const char* column : {"predicted_tpot_ms", "high90_tpot_ms", "predicted_ttft_ms"}) {
      CHECK(number(alone, 0, column) > 0.0);
      CHECK(number(alone, 0, column) == number(all, i, column));
      CHECK(number(all, i, column) == number(all, 0, column));  // the measured times say nothing
    }
  }
}

}  // namespace roofcast::cli::cli_calibrate_validate_serving
