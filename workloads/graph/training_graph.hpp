// SPDX-License-Identifier: Apache-2.0
//
// The operators of the forward and backward pass of one micro-batch in training.
//
//   forward    the graph of a prompt (workloads/graph/graph.hpp) with the logits of every token and their cross
//              entropy
//   backward   GEMM out[m,n] = x[m,k]·w[k,n]  dx = dout·wᵀ [m,k] and dw = xᵀ·dout [k,n]; the kernel of dw adds it
//                                             to the gradients in their own format. The same for experts, whose
//                                             products are too short to hide the traffic of the gradients
//              attention                      3 times the time of the forward pass: five products in place of two
//                                             (FlashAttention, arXiv 2205.14135) at 0.83 of its rate, the median of
//                                             22 kernels of B200 and A100 with 32 heads or 32K tokens and more
//                                             (MooreThreads/SimuMax@4dcaae5 configs/system)
//              recurrence, index              two products for each one of the forward pass
//              memory-bound kernels           read what the forward pass read and wrote, write what it read
//              ring attention                 keys and values go around again, and their gradients with them
//                                             (NVIDIA/TransformerEngine pytorch/attention, AttnFuncWithCPAndKVP2P)
//              collectives                    the opposite of each: gather and scatter change places. Tokens that tensor
//                                             parallelism gathers are in the format of the product; what it reduces and
//                                             scatters is in 16 bits (NVIDIA/TransformerEngine pytorch/distributed.py)
//   recompute  runs before the backward pass: the forward operators of what is computed again
//              (workloads/graph/recompute.hpp)
#pragma once

#include "workloads/graph/operator.hpp"
#include "workloads/graph/recompute.hpp"

namespace roofcast::workloads {

// The operators that are computed again, then the backward pass. `forward` is a graph without decoding sequences. `share`:
// of the layers that full recompute takes.
// `adapters_only`: products that are not called "lora" have no gradients of weights.
Graph backward_graph(const Graph& forward, const Recompute& recompute, double share,
                     double gradient_bytes, bool adapters_only = false);

}  // namespace roofcast::workloads
