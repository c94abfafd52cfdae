// SPDX-License-Identifier: Apache-2.0
//
// What one rank keeps of a layer for the backward pass, in bytes for one token.
//
//   norms       of each mixer and feed-forward: its input x, 2·h, and the normalised input, Q(h) (to a mixture 2·h,
//               which its router reads, and Q(h) for shared experts that compute in fewer bits)
//   attention   queries, keys, values: 2·(a + 2b), before and after a norm of them; output 2·a, kept again as Q(a)
//               where the projection computes in fewer bits, and again where heads are exchanged (context_parallel by
//               ulysses); 4 bytes a head for the sum of its softmax
//   MLA         the same of its full heads, and twice each latent
//   recurrence  its projections, convolved channels (delta net only), output and gated output; Mamba's kernel
//               computes the convolution again (state-spaces/mamba, ssd_combined.py); of Mamba-1 also B, C and the
//               vector of its steps, which every rank has (selective_scan_interface.py)
//   mlp         output of the widening layers 2·g·w, activation Q(w)
//   experts     for each of the top_k: Q(h), 2·g·w (or g·w in the format of expert_activations), Q(w); shared experts 2·g·w, Q(w); 4 bytes a score of the router
//
//   Q(n)   n elements in the format in which the linear layer computes: 16 bits, FP8 with its scales, NVFP4. The copy
//          that is kept is the one the product of the weights' gradient reads (NVIDIA/TransformerEngine)
//   h hidden    a query heads · head_dim    b kv heads · head_dim    w width    g 2 with a gate, 1 without
//
// Tensor parallelism cuts all of these except x and the normalised inputs, which sequence_parallel cuts. Fused
// attention keeps no scores. A layer as wide as GPT-3's keeps 32·h bytes in 16 bits; with dropout h for each of two masks
// more, the 34 of arXiv 2205.05198. The sums of softmax come on top.
//
// With LoRA the input of a linear layer is kept where it has an adapter, in 16 bits, or where another part of the backward
// pass reads it (the core of attention its output; the router and shared experts nothing). An adapter keeps its narrow one.
//
// What is computed again (workloads/graph/recompute.hpp) is not kept: full leaves x; norms the normalised inputs;
// attention the sums, and the output where Q(a) is kept; mla_up queries, keys, values; mlp, experts, shared_experts all
// that is inside; expert_activation Q(w) of experts.
#pragma once

#include "workloads/architecture/mapping.hpp"
#include "workloads/architecture/precision.hpp"
#include "workloads/graph/recompute.hpp"
#include "workloads/training/adapters.hpp"

namespace roofcast::models {

double kept_bytes(const workloads::Architecture& model, const workloads::LayerGroup& layer,
                  const workloads::Mapping& mapping, const workloads::Precision& precision,
                  const workloads::Recompute& recompute,
                  base::NumberFormat expert_activations = base::NumberFormat::bf16,
                  bool dropout = false, const workloads::Adapters& lora = {});

// Live besides that while the layer's backward pass runs: the gradient of the widening layer's output, of which the
// activation is already free, and the gradient that comes in.
double backward_bytes(const workloads::Architecture& model, const workloads::LayerGroup& layer,
                      const workloads::Mapping& mapping);

}  // namespace roofcast::models
