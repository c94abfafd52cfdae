// SPDX-License-Identifier: Apache-2.0
//
// Which published deployment a measured row of two pools is of (calibrate/servers/disaggregated_rows.hpp).
#include "calibrate/servers/disaggregated_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"

namespace roofcast::unit_calibrate_disaggregated_rows {

using calibrate::DisaggregatedRows;
using calibrate::DisaggregatedServer;
using calibrate::Facts;

namespace {

struct Measured {
  const char* stack;
  const char* date;
  int clients;
  double tpot;
};

// Rows of DeepSeek-V3 in FP8 on a B200, 1,024 tokens in and out, whose dump says nothing of workers.
struct TwoPools {
  base::CsvTable table;
  std::vector<Measured> all;

  explicit TwoPools(const std::vector<Measured>& rows) : table(table_of(rows)), all(rows) {}

  static base::CsvTable table_of(const std::vector<Measured>& rows) {
    std::string text =
        "backend,system,precision,mode,isl,osl,concurrency,silicon_ttft_ms,silicon_tpot_ms,"
        "measured_date,decode_batch_size";
    for (const char* pool : {"prefill", "decode"}) {
      for (const char* column :
           {"num_workers", "tp_size", "attention_dp_size", "moe_tp_size", "moe_ep_size"}) {
        text += fmt::format(",{}_{}", pool, column);
      }
    }
    for (const Measured& row : rows) {
      text += fmt::format("\n{},b200_sxm,fp8,disagg,1024,1024,{},300,{},{},,,8,1,1,8,,8,1,1,8",
                          row.stack, row.clients, row.tpot, row.date);
    }
    return base::parse_csv(text + "\n", "rows of two pools");
  }

  // With the draft tokens it has.
  std::pair<DisaggregatedServer, std::string> server(std::size_t row) const {
    Facts facts;
    std::string date = all[row].date;
    date.erase(std::remove(date.begin(), date.end(), '-'), date.end());
    for (const auto& [name, value] : {std::pair<const char*, std::string>{"source", "inferencex"},
                                      {"mode", "disagg"},
                                      {"model", "deepseek-v3"},
                                      {"chip", "b200_sxm"},
                                      {"chip.architecture", "blackwell"},
                                      {"stack", all[row].stack},
                                      {"version", ""},
                                      {"date", date},
                                      {"year", ""},
                                      {"input", "1024"},
                                      {"output", "1024"},
                                      {"clients", fmt::format("{}", all[row].clients)},
                                      {"decode_ranks", ""},
                                      {"draft_tokens", "0"},
                                      {"table.tp_size", ""},
                                      {"table.model_path", "deepseek-ai/DeepSeek-R1"},
                                      {"table.precision", "fp8"},
                                      {"table.gemm_quant_mode", ""}}) {
      facts.set(name, value);
    }
    const DisaggregatedServer found = DisaggregatedRows(table).row(row, facts);
    return {found, *facts.find("draft_tokens")};
  }
};

TEST_CASE("A row speculates where all configurations of its clients do", "[unit]") {
  const auto [server, drafts] = TwoPools({{"trtllm", "2026-03-23", 896, 14.4}}).server(0);
  REQUIRE(server.reason.empty());
  CHECK(drafts == "3");
  CHECK_FALSE(server.may_speculate);
  CHECK(server.pools.decode.replicas == 7);
  CHECK(server.pools.decode.limits.max_sequences == 128);
  CHECK(server.pools.decode.limits.max_tokens_per_iteration == 4 * 128);
}

TEST_CASE("Of as many measured times as configurations, the shortest are of those that speculate",
          "[unit]") {
  const TwoPools both({{"trtllm", "2026-03-23", 32, 11.0}, {"trtllm", "2026-03-23", 32, 5.2}});
  const auto [plain, none] = both.server(0);
  const auto [fast, three] = both.server(1);
  CHECK(none == "0");
  CHECK(three == "3");
  CHECK(plain.pools.decode.replicas == 3);
  CHECK(fast.pools.decode.replicas == 8);
  CHECK_FALSE(plain.may_speculate);
  CHECK_FALSE(fast.may_speculate);
  // One time is of either.
  const auto [one, unknown] = TwoPools({{"trtllm", "2026-03-23", 32, 5.2}}).server(0);
  CHECK(unknown == "0");
  CHECK(one.may_speculate);
}

TEST_CASE("A day on which only configurations that speculate ran has no others", "[unit]") {
  const auto [server, drafts] = TwoPools({{"sglang", "2026-02-13", 4, 4.9}}).server(0);
  CHECK(drafts == "2");
  CHECK_FALSE(server.may_speculate);
  const auto [later, unknown] = TwoPools({{"sglang", "2026-03-18", 4, 4.9}}).server(0);
  CHECK(unknown == "0");
  CHECK(later.may_speculate);
}

}  // namespace
}  // namespace roofcast::unit_calibrate_disaggregated_rows
