// SPDX-License-Identifier: Apache-2.0
//
// Time of memory-bound kernels: norms, activations, rotary embedding, quantise, routing of experts.
//
//   time = launch + fill_trips · DRAM latency + max(bytes / rate, FLOP / vector rate)
//
// What fits in half the L2 was left there by the kernel before and moves at L2 rate, the rest at
// DRAM rate (the half: measured rates on A100 and H200 fall between 28 and 48 MB of their 40–50 MB
// L2, te42kyfo/gpu-benches). The vector rate is `vector_efficiency` of the fp32 peak: few of such a kernel's
// instructions multiply. It limits short convolutions, four products for each element.
//
// Expert routing is `moe_kernels` such kernels in a row. Its rows are found through indices, so the SMs
// that address them may be slower than the memory:
//   compute = (4 · pairs + 2 · tokens) · hidden · row_clocks / (SMs · clock)
// each pair's row read and written when permuted and again when reduced, each token's when quantised
// and as the sum. More than 16 choices of a token are sorted out of its scores: 6 kernels more, and 11 clocks of an
// SM a score (TensorRT-LLM's 22 of 512 experts on B200, 350 us for 16384 tokens, in ai-dynamo/aiconfigurator@095f58a).
#pragma once

#include "models/cost.hpp"
#include "models/machine.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::models {

inline constexpr double kResidentShare = 0.5;    // of the L2
inline constexpr double kBytesPerCta = 65536.0;  // of a kernel that streams

Cost elementwise_cost(const workloads::Elementwise& op, const Machine& machine);
Cost expert_routing_cost(const workloads::ExpertRouting& op, const Machine& machine);

}  // namespace roofcast::models
