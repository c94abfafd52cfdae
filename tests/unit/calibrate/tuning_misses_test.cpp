// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit/tuning_misses.hpp"

#include <string>

#include "tests/catch.hpp"

namespace roofcast::unit_calibrate_tuning_misses {

using calibrate::OperatorRows;

TEST_CASE("A rank of experts that takes longer than one with as much and more was badly tuned",
          "[unit]") {
  const std::string header =
      "system,fw,fw_version,kernel_source,moe_dtype,num_tokens,hidden_size,inter_size,topk,"
      "num_experts,moe_tp_size,moe_ep_size,distribution,latency_ms\n";
  const auto row = [](const std::string& kernel, int tokens, int cut, int ranks, double ms) {
    return "h200_sxm,trtllm,1.0," + kernel + ",fp8," + std::to_string(tokens) + ",5120,8192,1,16," +
           std::to_string(cut) + "," + std::to_string(ranks) + ",balanced," + std::to_string(ms) +
           "\n";
  };
  const base::CsvTable table =
      base::parse_csv(header + row("a", 8, 1, 2, 0.148)  // whole, half of the experts
                          + row("a", 8, 1, 8, 0.146)     // fewer experts: no faster, but no miss
                          + row("a", 8, 8, 2, 0.250)     // cut, and slower than the whole ones
                          + row("a", 8, 1, 1, 1.946)   // more experts than any other: nobody tells
                          + row("a", 16, 8, 2, 0.250)  // of other tokens
                          + row("b", 8, 8, 2, 0.250),  // by another kernel
                      "moe");
  const OperatorRows rows("moe", table);
  CHECK(calibrate::tuning_misses("moe", rows) ==
        std::vector<bool>{false, false, true, false, false, false});
  CHECK(calibrate::tuning_misses("gemm", rows).empty());
}

}  // namespace roofcast::unit_calibrate_tuning_misses
