// SPDX-License-Identifier: Apache-2.0
//
// The commands that start the servers of a deployment, under the stacks of the catalog.
//
// Options, and where they are documented. A later release may rename them.
//
//   vllm     --tensor-parallel-size --pipeline-parallel-size --max-num-batched-tokens --gpu-memory-utilization
//            --kv-cache-dtype              Engine Arguments of docs.vllm.ai; vllm/engine/arg_utils.py
//            --data-parallel-size, --api-server-count, --max-num-seqs of each DP rank
//                                          vllm-project/vllm@01e4fce docs/serving/data_parallel_deployment.md
//            --enable-expert-parallel      the same page, and docs/serving/expert_parallel_deployment.md: EP = TP x DP
//            --kv-transfer-config          vllm-project/vllm@026c83f docs/features/nixl_connector_usage.md
//   sglang   --model-path --tp-size --pp-size --dp-size --ep-size --max-running-requests --chunked-prefill-size
//            --mem-fraction-static --kv-cache-dtype --tokenizer-worker-num
//                                          sgl-project/sglang@004813e docs/advanced_features/server_arguments.md
//            --enable-dp-attention         divides TP, chunk and requests by --dp-size: the values here are of all groups
//                                          (python/sglang/srt/server_args.py)
//            --disaggregation-mode, and the router
//                                          sgl-project/sglang@08edc50 docs/advanced_features/pd_disaggregation.md
//   trtllm   --tp_size --pp_size --ep_size --max_batch_size --max_num_tokens --kv_cache_free_gpu_memory_fraction
//            --enable_chunked_prefill --config
//                                          NVIDIA/TensorRT-LLM@00209af tensorrt_llm/commands/serve.py
//            enable_attention_dp, kv_cache_config, cache_transceiver_config, disable_overlap_scheduler, and
//            `trtllm-serve disaggregated`  features/disagg-serving of nvidia.github.io/TensorRT-LLM
//
// MODEL stands for a checkpoint in the scenario's precision. Ports, addresses and what a server of several nodes needs are
// left to the reader.
#pragma once

#include <string>

#include "sim/scenario/scenario.hpp"

namespace roofcast::cli {

// Lines of a shell, with comments. What has no command, such as another stack, is said in a comment.
std::string launch_commands(const sim::Scenario& scenario);

}  // namespace roofcast::cli
