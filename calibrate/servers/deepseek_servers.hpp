// SPDX-License-Identifier: Apache-2.0
//
// How InferenceX ran DeepSeek-R1 (SemiAnalysisAI/InferenceX, before 2026-04-28), from what a row tells.
//
// TensorRT-LLM (benchmarks/single_node/dsr1_{fp4_b200,fp8_b200,fp8_h200}_trt{,_mtp}.sh @34bc7c4):
//
//   tokens a step   the longest prompt, a token of each client and 64, in units of 64, but at least 8192;
//                   before images 1.2 (benchmarks/dsr1_fp8_b200_docker.sh @ff7e462) and with multi-token prediction no
//                   more than that, and all tokens that a rank's clients verify
//   sequences       with prediction, as many as there are clients of a rank: concurrency; of attention DP a quarter
//                   (NVFP4) or an eighth
//   memory          0.8 of what is free, H200 0.75, attention DP with prediction on B200 in FP8 0.7
//   prompts wait    for one on each rank of attention DP, 60 iterations at most; B200 in FP8, 1024/1024 of 64
//                   clients and more: for 0.8 of a step, 40 iterations at most
//   experts         kernels generated for few tokens on B200 (moe_config backend TRTLLM), not of attention DP
//   graphs          cover prompts too, piecewise, where clients are many and lengths as prompts_by_graph() says
//
// The table does not record speculation. Of images 1.2.0rc6 on B200, .post2 ran without and .post3 with prediction
// (.github/configs/nvidia-master.yaml @0004cf5, pull requests 1488 and 1489); of H200's only those with prediction had 128 clients of attention DP. Elsewhere a row may have speculated: as
// deep as the configuration with prediction says, which the row's settings choose:
//
//   TensorRT-LLM   one draft token where attention is data-parallel, else three
//   SGLang         two (@574bcd35 benchmarks/dsr1_fp8_b200_mtp.sh: speculative-num-steps 2, eagle-topk 1); there was
//                  no such configuration on H200
//
// Acceptance is that of `deepseek-v3_mtp` in the catalog, the same for all rows: on InferenceX's prompts nobody
// published it.
#pragma once

#include "calibrate/servers/serving_rows.hpp"

namespace roofcast::calibrate {

// The limits of TensorRT-LLM without prediction; `version` of the image, empty where it is not recorded.
void configure_deepseek(MeasuredServer& server, std::string_view version);

// The server with multi-token prediction; only of DeepSeek.
MeasuredServer speculating(const MeasuredServer& server);

enum class Predicts : std::uint8_t { no, perhaps, yes };
// Whether a row of this image used prediction; of a DeepSeek server of InferenceX.
Predicts predicts(const MeasuredServer& server, std::string_view version);

}  // namespace roofcast::calibrate
