// SPDX-License-Identifier: Apache-2.0
//
// The operators of a training step's passes over one micro-batch.
//
//   forward    the graph of a prompt (workloads/graph/graph.hpp) with every token's logits and their cross entropy
//   backward   of out[m,n] = x[m,k]·w[k,n]:   dx = dout·wᵀ  [m,k]   and   dw = xᵀ·dout  [k,n], added to gradients
//              in the format that is reduced, in the same kernel; the same of the experts' layers
//              attention                      2.5 times the forward's products: five in place of two
//                                             (FlashAttention, arXiv 2205.14135)
//              recurrence, index              two products for each of the forward's
//              memory-bound kernels           read what the forward read and wrote, write what it read
//              collectives                    the opposite of each: gather and scatter change places
//   recompute  before it: `full`, the forward of every layer (arXiv 1604.06174); `attention`, its core alone (what
//              arXiv 2205.05198 calls selective; kernels that keep no scores save no memory by it)
#pragma once

#include "workloads/graph/operator.hpp"

namespace roofcast::workloads {

enum class Recompute : std::uint8_t { none, attention, full };

// What must be done again, and the backward pass; `forward` is a graph without decoding sequences.
Graph backward_graph(const Graph& forward, Recompute recompute, double gradient_bytes);

}  // namespace roofcast::workloads
