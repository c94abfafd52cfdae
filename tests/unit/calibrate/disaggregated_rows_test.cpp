// SPDX-License-Identifier: Apache-2.0
//
// Which published deployment a measured row of two pools is of (calibrate/servers/disaggregated_rows.hpp).
#include "calibrate/servers/serving_rows.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/two_pool_columns.hpp"

namespace roofcast::unit_calibrate_disaggregated_rows {

using calibrate::MeasuredServer;
using calibrate::ServingRows;

namespace {

struct Measured {
  const char* stack;
  const char* date;
  int clients;
  double tpot;
  const char* chip = "b200_sxm";
  int prefill_experts = 8;  // ranks that keep experts whole
  const char* id = "";
  const char* precision = "fp8";
};

// Rows of DeepSeek-V3 in FP8, 1,024 tokens in and out, whose dump says nothing of workers.
std::vector<MeasuredServer> servers(const std::vector<Measured>& rows) {
  std::string text = two_pool_columns();
  for (const Measured& row : rows) {
    text += fmt::format(
        "\n{},inferencex,disagg,deepseek-ai/"
        "DeepSeek-R1,{},{},,{},fp8,1024,1024,{},{},300,{},,,,"
        ",,,,,8,1,1,{},,8,1,1,8",
        row.id, row.chip, row.stack, row.precision, row.clients, row.date, row.tpot,
        row.prefill_experts);
  }
  const base::CsvTable table = base::parse_csv(text + "\n", "rows of two pools");
  ServingRows read(table);
  std::vector<MeasuredServer> all;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    all.push_back(read.row(row));
    REQUIRE(all.back().reason.empty());
    // These end with the rows.
    all.back().platform = nullptr;
    all.back().precision = nullptr;
    all.back().section = nullptr;
  }
  return all;
}

TEST_CASE("A row speculates where all configurations of its clients do", "[unit]") {
  const MeasuredServer server = servers({{"trtllm", "2026-03-23", 896, 14.4}}).front();
  CHECK(server.serving.speculation.draft_tokens == 3);
  CHECK_FALSE(server.may_speculate);
  CHECK(server.pools->decode.replicas == 7);
  CHECK(server.pools->decode.limits.max_sequences == 128);
  CHECK(server.pools->decode.limits.max_tokens_per_iteration == 4 * 128);
}

TEST_CASE("Neither its own measured times nor other rows tell whether a row speculates", "[unit]") {
  const auto both =
      servers({{"trtllm", "2026-03-23", 32, 11.0}, {"trtllm", "2026-03-23", 32, 5.2}});
  const MeasuredServer one = servers({{"trtllm", "2026-03-23", 32, 5.2}}).front();
  for (const MeasuredServer& server : {both[0], both[1], one}) {
    CHECK_FALSE(server.serving.speculation.drafts());
    CHECK(server.may_speculate);
    CHECK_FALSE(server.listed_speculation);
    CHECK(server.pools->decode.replicas == 3);
  }
}

TEST_CASE("A listed run is told by its id alone whether it speculates", "[unit]") {
  const auto listed = [](const char* id) {
    return servers({{"trtllm", "2026-03-23", 32, 300.0, "b200_sxm", 8, id}}).front();
  };
  const MeasuredServer with =
      listed("2026_03_25_deepseek_r1_b200_sxm_trtllm_fp8_disagg_1024x1024_c32_tp8_0_ep8_0_402");
  CHECK(with.serving.speculation.draft_tokens == 3);
  CHECK(with.pools->decode.replicas == 8);
  CHECK(with.listed_speculation);
  CHECK_FALSE(with.may_speculate);
  CHECK_FALSE(listed("another run").listed_speculation);
}

TEST_CASE("A listed run whose row leaves out its workers has those of the list", "[unit]") {
  const MeasuredServer server =
      servers(
          {{"trtllm", "2026-03-23", 288, 20.0, "h200_sxm", 8,
            "2026_03_25_deepseek_r1_h200_sxm_trtllm_fp8_disagg_1024x1024_c288_tp8_0_ep8_0_353"}})
          .front();
  CHECK(server.listed_workers);
  CHECK(server.pools->decode.replicas == 9);
  CHECK(server.pools->decode.mapping.tensor_parallel == 8);
  CHECK_FALSE(server.serving.speculation.drafts());
}

TEST_CASE("A day on which only configurations that speculate ran has no others", "[unit]") {
  const MeasuredServer server = servers({{"sglang", "2026-02-13", 4, 4.9}}).front();
  CHECK(server.serving.speculation.draft_tokens == 2);
  CHECK_FALSE(server.may_speculate);
  const MeasuredServer later = servers({{"sglang", "2026-03-18", 4, 4.9}}).front();
  CHECK_FALSE(later.serving.speculation.drafts());
  CHECK(later.may_speculate);
  CHECK_FALSE(servers({{"sglang", "2026-02-07", 4, 4.9}}).front().may_speculate);
}

TEST_CASE("Whether prefill workers keep experts whole tells deployments of the same width apart",
          "[unit]") {
  const auto prefill = [](int experts) {
    const MeasuredServer server =
        servers({{"sglang", "2026-03-25", 2048, 30.0, "h200_sxm", experts}}).front();
    return server.pools->prefill.mapping;
  };
  CHECK(prefill(8).data_parallel == 8);
  CHECK(prefill(8).expert_parallel == 8);
  CHECK(prefill(1).tensor_parallel == 8);
  CHECK(prefill(1).expert_parallel == 1);
}

}  // namespace
}  // namespace roofcast::unit_calibrate_disaggregated_rows
