// SPDX-License-Identifier: Apache-2.0
//
// The servers of a deployment under the stacks of the catalog, with the program and the options that start each.
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
// MODEL stands for a checkpoint in the scenario's precision.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/result/infeasible.hpp"
#include "sim/scenario/scenario.hpp"

namespace roofcast::cli {

struct LaunchOption {
  // What it is of. Where something else takes requests in and passes them on (cli/launch/kubernetes.hpp), that has its own
  // options in place of the last two.
  enum class Of : std::uint8_t { engine, front_end, pools };

  std::string name;
  std::string value;  // empty: a switch
  Of of = Of::engine;
  std::string key;  // of the engine's file that says the same; empty: none
};

// The servers of one pool: equal replicas.
struct LaunchedServer {
  sim::PoolKind pool = sim::PoolKind::none;
  std::int64_t replicas = 1;
  std::int64_t gpus = 1;             // of one replica
  std::vector<std::string> program;  // words, up to the model
  std::vector<LaunchOption> options;
  // The engine's file that the options name: lines of YAML. No file where there is none.
  std::string file;
  std::vector<std::string> file_lines;

  bool is_prefill() const { return pool == sim::PoolKind::prefill; }
  bool is_pooled() const { return pool != sim::PoolKind::none; }
};

struct Launch {
  std::string stack;    // id
  std::string refusal;  // why there is no command; empty: there are servers
  std::vector<LaunchedServer> servers;
};

Launch launch_of(const sim::Scenario& scenario);

}  // namespace roofcast::cli
