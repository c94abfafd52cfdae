// SPDX-License-Identifier: Apache-2.0
//
// Time of memory-bound kernels: norms, activations, rotary embedding, quantise, routing of experts.
//
//   time = launch + fill_trips · DRAM latency + max(bytes / rate, FLOP / vector rate)
//
// The kernel before left its output in the L2. A kernel whose bytes fit in half the L2 moves them at L2 rate. Of more bytes
// fewer are still there, of as many as the whole L2 none: those go at DRAM rate. (Measured rates on A100 and H200 fall between
// 28 and 48 MB of their 40–50 MB L2, te42kyfo/gpu-benches.) A benchmark repeats a kernel on the same bytes. Then all of them
// are still there up to 2/3 of the L2, and none from 4/3 of it:
//
//   share = clamp(2 − 1.5 · touched / L2, 0, 1)
//
//   touched  B  different bytes: a state that is written over what was read counts once
//
// (L40S, 96 MiB, ai-dynamo/aiconfigurator@095f58a: short convolutions and updates of states miss nothing of 64 to 72 MiB,
// 25 % of 80, 12 to 55 % of 96, 80 to 100 % of 128, all of 144 and more.)
//
// The vector rate is `vector_efficiency` of the fp32 peak: few
// instructions of such a kernel multiply. It limits short convolutions, which have four products for each
// element.
//
// Memory is read in sectors of 32 bytes. Threads of a warp that read elements `stride` apart take whole sectors of which
// they use a part (coalescing): with 4 bytes and a stride of 2 half of what is moved, from a stride of 8 an eighth.
//
// Expert routing is `moe_kernels` such kernels in a row. Its rows are found through indices, so the SMs that
// address them may be slower than the memory:
//
//   compute = ((4 · pairs + 2 · tokens) · hidden · row_clocks + sort) / (SMs · clock)
//   sort    = 11 · tokens · experts        only with more than 16 choices a token, and 6 kernels more
//
//   pairs       –       (token, expert) rows; each is read and written when permuted and again when reduced
//   tokens      –       each is read or written when quantised and as the sum
//   row_clocks  clocks  of an SM, for one element
//   11          clocks  of an SM, for one score; more than 16 choices of a token are sorted out of its scores
//
// Kernels of experts look for their tiles by passing over every expert of the rank, one after another, those without
// rows too: fill += searched_experts · expert_clocks / clock (block_expert_clocks with fp8_block, fp4_expert_clocks with fp4 activations). In FP8 with block scales
// on H200, TensorRT-LLM takes 24 us for one token on a rank with 8 experts, 40 with 64, 60 with 128, 105 with 256 and
// 148 with 384, whatever their size. Generated kernels do not.
//
// The sort was measured on TensorRT-LLM: 22 of 512 experts on B200, 350 us for 16384 tokens
// (ai-dynamo/aiconfigurator@095f58a).
#pragma once

#include "models/cost.hpp"
#include "models/machine.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::models {

struct Anatomy;  // filled where there is one

// Share of so many bytes that a kernel finds in the L2, where the kernel before left them.
double resident_share(base::Bytes bytes, const Machine& machine);

// The same of a kernel that a benchmark repeats on so many different bytes.
double repeated_share(base::Bytes touched, const Machine& machine);

inline constexpr double kBytesPerCta = 65536.0;  // bytes that one CTA of a streaming kernel moves

Cost elementwise_cost(const workloads::Elementwise& op, const Machine& machine,
                      Anatomy* anatomy = nullptr);
Cost expert_routing_cost(const workloads::ExpertRouting& op, const Machine& machine,
                         Anatomy* anatomy = nullptr);

}  // namespace roofcast::models
