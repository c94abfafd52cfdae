// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <string>

#include "calibrate/logs/kernel_profile.hpp"

namespace roofcast::calibrate {
namespace {

struct Pattern {
  std::string_view part;  // of the name in small letters
  std::string_view kind;
};

// The first that is in the name counts. What writes a cache is no attention, what multiplies for experts is no plain GEMM,
// attention kernels are made of GEMMs, and a compiler's fused kernel names what it fused.
constexpr Pattern kPatterns[] = {
    {"memcpy", "copy"},
    {"memset", "copy"},
    // vLLM's, TensorRT-LLM's and PyTorch's own beside NCCL; DeepEP; NVSHMEM.
    {"nccl", "collective"},
    {"cross_device_reduce", "collective"},
    {"allreduce", "collective"},
    {"all_reduce", "collective"},
    {"allgather", "collective"},
    {"all_gather", "collective"},
    {"reducescatter", "collective"},
    {"reduce_scatter", "collective"},
    {"alltoall", "collective"},
    {"all_to_all", "collective"},
    {"moea2a", "collective"},
    {"deep_ep", "collective"},
    {"nvshmem", "collective"},
    {"reshape_and_cache", "elementwise"},
    {"concat_and_cache", "elementwise"},
    {"applybiasropeupdatekvcache", "elementwise"},
    {"moe", "moe"},
    {"expert", "moe"},
    {"grouped_gemm", "moe"},
    {"group_gemm", "moe"},
    {"topkgating", "moe"},
    {"topk_softmax", "moe"},
    {"topk_sigmoid", "moe"},
    {"grouped_topk", "moe"},
    {"selective_scan", "recurrence"},
    {"chunk_scan", "recurrence"},
    {"chunk_state", "recurrence"},
    {"chunk_cumsum", "recurrence"},
    {"state_passing", "recurrence"},
    {"_bmm_chunk", "recurrence"},
    {"mamba", "recurrence"},
    {"causal_conv1d", "recurrence"},
    {"gated_delta", "recurrence"},
    {"fused_recurrent", "recurrence"},
    {"flash_fwd", "attention"},
    {"flash::", "attention"},
    {"flash_attn", "attention"},
    {"flashattn", "attention"},
    {"flash_mla", "attention"},
    {"flashmla", "attention"},
    {"fmha", "attention"},
    {"masked_multihead", "attention"},
    {"xqa", "attention"},
    {"paged_attention", "attention"},
    {"attention", "attention"},
    {"batchprefill", "attention"},
    {"batchdecode", "attention"},
    {"merge_attn_states", "attention"},
    {"compute_attn", "attention"},
    {"fwd_kernel_stage", "attention"},  // Triton's decode attention
    {"mla_", "attention"},
    {"gemm", "gemm"},
    {"gemv", "gemm"},
    {"nvjet", "gemm"},
    {"cublas", "gemm"},
    {"cutlass", "gemm"},
    {"xmma", "gemm"},
    {"marlin", "gemm"},
    {"machete", "gemm"},
    {"matmul", "gemm"},
    {"splitk", "gemm"},
    {"dot_kernel", "gemm"},
    {"elementwise", "elementwise"},
    {"norm", "elementwise"},
    {"act_and_mul", "elementwise"},
    {"silu", "elementwise"},
    {"gelu", "elementwise"},
    {"swiglu", "elementwise"},
    {"rotary", "elementwise"},
    {"rope", "elementwise"},
    {"quant", "elementwise"},
    {"cast_to_fp8", "elementwise"},
    {"softmax", "elementwise"},
    {"reduce_kernel", "elementwise"},
    {"argmax", "elementwise"},
    {"topk", "elementwise"},
    {"sampling", "elementwise"},
    {"sort", "elementwise"},
    {"scan", "elementwise"},
    {"catarray", "elementwise"},
    {"index", "elementwise"},
    {"gather", "elementwise"},
    {"scatter", "elementwise"},
    {"embedding", "elementwise"},
    {"triton_poi_", "elementwise"},
    {"triton_red_", "elementwise"},
    {"triton_per_", "elementwise"},
    {"at::native::", "elementwise"},
};

}  // namespace

std::string_view kernel_kind(std::string_view kernel) {
  std::string small;
  small.reserve(kernel.size());
  for (const char c : kernel) {
    small.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
  }
  const auto* found =
      std::find_if(std::begin(kPatterns), std::end(kPatterns),
                   [&](const Pattern& p) { return small.find(p.part) != std::string::npos; });
  return found == std::end(kPatterns) ? "other" : found->kind;
}

}  // namespace roofcast::calibrate
