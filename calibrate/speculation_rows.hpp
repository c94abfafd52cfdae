// SPDX-License-Identifier: Apache-2.0
//
// Measured servers that may have used speculative decoding, as if they had.
//
// The table does not record speculation. InferenceX ran DeepSeek-R1 with and without multi-token prediction; the
// configurations with it say how deep, and the row's settings alone choose:
//
//   TensorRT-LLM   one draft token where attention is data-parallel, else three
//                  (SemiAnalysisAI/InferenceX@13dd0c2a benchmarks/dsr1_fp4_b200_trt_mtp.sh,
//                  @111f0312 dsr1_fp8_b200_trt_mtp.sh, @1fc5d73c dsr1_fp8_h200_trt_mtp.sh)
//   SGLang         two (@574bcd35 benchmarks/dsr1_fp8_b200_mtp.sh: speculative-num-steps 2, eagle-topk 1); there was
//                  no such configuration on H200
//
// Acceptance is that of `deepseek-v3_mtp` in the catalog, the same for all rows: on InferenceX's random prompts
// nobody published it.
#pragma once

#include "calibrate/serving_rows.hpp"

namespace roofcast::calibrate {

// The server with multi-token prediction; only of servers that may speculate.
MeasuredServer speculating(const MeasuredServer& server);

}  // namespace roofcast::calibrate
