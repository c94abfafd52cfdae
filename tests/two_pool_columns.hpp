// SPDX-License-Identifier: Apache-2.0
//
// The head of a table of measured servers of two pools.
#pragma once

#include <fmt/format.h>

#include <string>

namespace roofcast {

inline std::string two_pool_columns() {
  std::string text =
      "id,source,mode,model_path,system,backend,backend_version,precision,gemm_quant_mode,isl,osl,"
      "concurrency,measured_date,silicon_ttft_ms,silicon_tpot_ms,batch_size,tp_size,pp_size,"
      "attention_dp_size,moe_tp_size,moe_ep_size,decode_batch_size";
  for (const char* pool : {"prefill", "decode"}) {
    for (const char* column :
         {"num_workers", "tp_size", "attention_dp_size", "moe_tp_size", "moe_ep_size"}) {
      text += fmt::format(",{}_{}", pool, column);
    }
  }
  return text;
}

}  // namespace roofcast
