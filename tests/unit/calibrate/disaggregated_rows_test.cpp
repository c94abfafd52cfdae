// SPDX-License-Identifier: Apache-2.0
//
// Which published deployment a measured row of two pools is of (calibrate/servers/disaggregated_rows.hpp).
#include "calibrate/servers/serving_rows.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "tests/catch.hpp"

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
};

// Rows of DeepSeek-V3 in FP8, 1,024 tokens in and out, whose dump says nothing of workers.
std::vector<MeasuredServer> servers(const std::vector<Measured>& rows) {
  std::string text =
      "source,mode,model_path,system,backend,backend_version,precision,gemm_quant_mode,isl,osl,"
      "concurrency,measured_date,silicon_ttft_ms,silicon_tpot_ms,batch_size,tp_size,pp_size,"
      "attention_dp_size,moe_tp_size,moe_ep_size,decode_batch_size";
  for (const char* pool : {"prefill", "decode"}) {
    for (const char* column :
         {"num_workers", "tp_size", "attention_dp_size", "moe_tp_size", "moe_ep_size"}) {
      text += fmt::format(",{}_{}", pool, column);
    }
  }
  for (const Measured& row : rows) {
    text += fmt::format(
        "\ninferencex,disagg,deepseek-ai/"
        "DeepSeek-R1,{},{},,fp8,fp8,1024,1024,{},{},300,{},,,,"
        ",,,,,8,1,1,{},,8,1,1,8",
        row.chip, row.stack, row.clients, row.date, row.tpot, row.prefill_experts);
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

TEST_CASE("Of as many measured times as configurations, the shortest are of those that speculate",
          "[unit]") {
  const auto both =
      servers({{"trtllm", "2026-03-23", 32, 11.0}, {"trtllm", "2026-03-23", 32, 5.2}});
  CHECK_FALSE(both[0].serving.speculation.drafts());
  CHECK(both[1].serving.speculation.draft_tokens == 3);
  CHECK(both[0].pools->decode.replicas == 3);
  CHECK(both[1].pools->decode.replicas == 8);
  CHECK_FALSE(both[0].may_speculate);
  CHECK_FALSE(both[1].may_speculate);
  // One time is of either.
  const MeasuredServer one = servers({{"trtllm", "2026-03-23", 32, 5.2}}).front();
  CHECK_FALSE(one.serving.speculation.drafts());
  CHECK(one.may_speculate);
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
