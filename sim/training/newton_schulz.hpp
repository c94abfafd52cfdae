// SPDX-License-Identifier: Apache-2.0
//
// Muon's products: it orthogonalises the momentum X of each matrix by five steps of Newton and Schulz (arXiv 2502.16982 section
// 2.2; NVIDIA/Megatron-LM core/optimizer/emerging_optimizers.py, num_ns_steps), in bf16:
//
//   A = X · Xᵀ      B = b·A + c·A·A      X ← a·X + B·X          5 · (4·s²·l + 2·s³) FLOP, s ≤ l: sides of the matrix
//
// A rank computes on the matrices that it updates. Of those that tensor parallelism cuts, each rank takes its own piece (Megatron's
// muon_tp_mode blockwise). Where optimizer states are shared, whole matrices are dealt to the replicas (Megatron's dist_muon), as
// evenly as they can be: a rank has its share of the work, and at least one matrix. An expert's up and gate are one
// matrix, and so are queries, keys and values. The kernels that use the symmetry of A are not counted on.
#pragma once

#include "sim/scenario/scenario.hpp"
#include "workloads/architecture/mapping.hpp"
#include "workloads/graph/graph.hpp"

namespace roofcast::sim {

// `backward`: of a micro-batch, all stages. Its products of gradients of weights say what matrices there are.
base::Seconds newton_schulz_time(const workloads::Graph& backward, const ScenarioView& scenario,
                                 const workloads::Mapping& mapping);

}  // namespace roofcast::sim
