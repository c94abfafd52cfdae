// SPDX-License-Identifier: Apache-2.0
#include "calibrate/bench/plan.hpp"

namespace roofcast::bench {
namespace {

constexpr Suite kSuites[] = {
    {"copy", 45.0, "DRAM and L2 bandwidth by size and by CTAs"},
    {"arithmetic", 3.0, "exponentials and fp32 FMA of all SMs"},
    {"launch", 10.0, "kernels launched by the host and by a CUDA graph"},
    {"host", 10.0, "copies, events and graphs, as the host calls them"},
    {"latency", 25.0, "pointer chase by footprint"},
    {"in_flight", 15.0, "DRAM bandwidth by threads of an SM and loads under way"},
    {"gemm", 120.0, "cuBLASLt: bf16, fp8, fp16, int8, tf32"},
    {"power", 90.0, "power and clocks under sustained load"},
    {"sustained", 60.0, "clocks, power and speed of a load, second by second"},
    {"decode", 50.0, "attention of a decode iteration, split over the context"},
    {"prefill", 30.0, "causal attention of a prompt, online softmax"},
    {"gemm_backward", 30.0, "gradients of linear layers, cuBLASLt"},
    {"elementwise", 20.0, "RMSNorm, SiLU and product, quantising to fp8"},
    {"grouped_gemm", 30.0, "GEMMs of many experts and their gradients, cuBLAS"},
    {"mamba2", 15.0, "state-space scan and update"},
    {"pcie", 15.0, "copies between host and GPU"},
    {"nccl", 25.0, "collectives of all GPUs, NCCL, a process for each"},
};

}  // namespace

std::span<const Suite> suites() { return kSuites; }

double allowance(double remaining_s, std::span<const Suite> left) {
  double shares = 0.0;
  for (const Suite& suite : left) {
    shares += suite.share_s;
  }
  return left.empty() ? 0.0 : remaining_s * left.front().share_s / shares;
}

}  // namespace roofcast::bench
