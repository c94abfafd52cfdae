// SPDX-License-Identifier: Apache-2.0
//
// Which kernels a serving stack joins or chooses: the `fusion:` group of a stack, and an input of every
// graph.
#pragma once

#include <cstdint>

#include "base/document/fields.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::workloads {

// Which activations the kernel before already quantises. A kernel of its own quantises the others.
enum class QuantiseFusion : std::uint8_t {
  none,
  tensors,             // those with one scale a tensor, which a compiler fuses
  all_but_fp8_blocks,  // those with a scale a block too, but for FP8
  all_reduces,         // those that leave attention, or an all-reduce that normalises
  all
};

// What leaves the activations that are quantised.
enum class QuantisedAfter : std::uint8_t {
  norm,
  attention,
  // Products with absorbed weights, of which a server's kernels write 16 bits
  // (NVIDIA/TensorRT-LLM@c6d3bb2 tensorrt_llm/_torch/modules/attention.py, forward_generation).
  absorbed,
  other
};

// How tokens reach whole experts on other ranks.
enum class Exchange : std::uint8_t {
  all_to_all,
  gather,     // each rank gets all tokens
  gather_few  // the same where there are at most as many ranks as a token has experts
};

// Where shared experts run.
enum class SharedExperts : std::uint8_t {
  before,  // the routed ones
  beside,  // the routed ones, on a second stream, in iterations without prompts, which are a CUDA graph
  // In the kernels of the routed ones, as experts that every token chooses. With expert parallelism, or where they are
  // other kernels: beside these, but before them where tokens are exchanged.
  among
};

struct Fusion {
  QuantiseFusion quantise = QuantiseFusion::none;
  AllReduceKernels custom_all_reduce = AllReduceKernels::library;
  // All-reduces of at most kFusedNormBytes add the residual and normalise, in a kernel of FlashInfer with flags. That of
  // experts is inside their operator, where the compiler does not see it
  // (vllm-project/vllm@0014ec6 vllm/model_executor/layers/fused_moe/layer.py).
  bool norm = false;
  bool alternative_experts = false;  // GroupedGemm::alternative_kernel
  // The same, for weights in MXFP4 and activations in FP8 only.
  bool alternative_mxfp4_experts = false;
  bool searches_experts = false;      // ExpertRouting::searched_experts, but in alternative kernels
  bool separate_cache_write = false;  // a kernel of its own writes keys and values to the cache
  bool tf32_products = false;         // tensor cores multiply what is in fp32, in tf32
  Exchange exchange = Exchange::all_to_all;
  SharedExperts shared_experts = SharedExperts::before;
  bool overlaps_shared_experts = false;  // shared experts run while tokens are dispatched
  // Kernels of their own sort tokens before and after these are exchanged with experts.
  bool sorts_copies = false;
  // Tokens travel to experts in the format that these read, and gradients to what they come from. Sums come back in 16 bits.
  bool sends_quantised = false;
  // Each rank of tensor parallelism quantises its own tokens, and gathers all of them in the format of the product.
  bool gathers_quantised = false;
  // Attention is products and kernels of their own, which pass scores through memory.
  bool keeps_scores = false;
  // Kernels of their own for each of these (workloads/graph/unfused_kernels.hpp).
  bool unfused_rope = false;
  bool unfused_experts = false;  // clamps of their activations, biases of their outputs
  bool unfused_loss = false;
  bool dropout = false;
  // With `norm`: the output of a larger all-reduce is copied back into its input.
  bool copies_large_sums = false;
};

// The largest all-reduce that InferenceX lets vLLM fuse between 8 ranks (SemiAnalysisAI/InferenceX@bb4c7f9
// benchmarks/70b_fp8_b200_docker.sh). 2 and 4 ranks may fuse up to 32 MiB, but in one shot: vLLM's own limit of 4 ranks
// is 1 MiB, so above it this is taken to be no faster than the kernels apart.
inline constexpr double kFusedNormBytes = 8e6;

// Reads the group `fusion:`. What is not in it comes from the scenario: overlaps_shared_experts from serving.overlap,
// sorts_copies from training.dispatcher, sends_quantised from training.dispatch, keeps_scores and the unfused from training.fused_…, dropout from training.dropout.
// gathers_quantised is so in training.
void read(base::Fields& f, Fusion& fusion);

}  // namespace roofcast::workloads
