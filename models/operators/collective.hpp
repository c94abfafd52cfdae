// SPDX-License-Identifier: Apache-2.0
//
// Time of collectives: α–β per algorithm and protocol, over the levels of the fabric.
//
// n ranks, d scale-up domains with i of them each, S bytes. B is a rank's port (datasheet ×
// efficiency) and α a hop of its level; transfers of the two levels are one pipeline, so the slower
// counts. The library (NCCL) pays L·l for a kernel, α·h for a hop and reaches s·B, where (l, h, s)
// are its protocol's: LL (flags in every word), LL128 (in every line), Simple (fences); c is the
// last step of a ring, a copy out of the staging buffer that no transfer hides.
//
//                      hops inside + across      bytes of a rank's port inside | across
//   all-reduce
//     ring             2d(i−1) + 2(d−1)          (2(n−1) + c)/n·S | 2(d−1)/d·S/i
//     tree             2(i−1) + 2⌈log₂d⌉         2S | 2S/i   a chain in a host, double binary trees
//     in-switch        2 + 0                     S/η            (+ L')   NVLS
//     in-switch tree   2 + 2⌈log₂d⌉              S/η | 2S/i     (+ L')   NVLS, trees across
//     in-network       2 + 2                     S/η | S/(i·η)  (+ L')   SHARP across
//   all-gather, reduce-scatter (across first, and last)
//     ring             d(i−1) + (d−1)            (n−1 + c)/n·S | (d−1)/d·S/i
//     PAT              0 + ⌈log₂d⌉               0 | (d−1)/d·S/p          one rank in each domain
//     in-switch        2 + 0                     (n−1)/n·S/η    (+ L')
//   broadcast
//     ring             d(i−1) + (d−1)            S | S/i
//     tree             ⌈log₂i⌉ + ⌈log₂d⌉         2S | 2S/i
//     in-switch        2 + 0                     S/η            (+ L')
//   all-to-all
//     direct           2 + 2                     (i−1+c)/n·S | (n−i)/n·S
//                      and ⌈log₂i⌉−1, ⌈log₂d⌉−1 times α to post the messages
//     put              2 + 2                     (i−1)/n·S/e | (n−i)/n·S   and the posts
//                      by the stack's own kernels, which store rows where receivers read them
//     deduplicated     1 + 1                     (i−1)/i·r(n)/k·S | (d−1)/d·r(d)/k·S   (+ (1+⌈log₂d⌉)·D)
//                      rows that k ranks want cross once to each of the r(d) = d(1−(1−1/d)^k)
//                      domains they reach and fan out there to r(n) ranks, which also keeps to
//                      the rails; by kernels on a few SMs, which take deduplicated_row_clocks for
//                      each row and move r(n)/k·S, beyond a domain twice and what leaves once more,
//                      at deduplicated_bytes_per_sm_clock
//   send/receive       1                         S
//
// In a full mesh B is what the group's own links give (FabricLevel::among). Beyond the domain only a
// direct all-to-all leaves its rail: what goes to other positions is sent at off_rail · B.
//
// The stack's own all-reduce, in one domain whose ranks read each other's memory, without L:
//     one-shot         4 (barriers), 2 (flags)   (n−1)·S, at most W/α from each peer with barriers
//     two-shot         8                         2(n−1)/n·S, at most W/α with barriers
//     multimem         8, with barriers          S/η in a switch that reduces
// at e·B; with barriers up to 8 ranks. The fastest one is taken, as NCCL does by its own estimates; it and the runner-up are
// named. One rank: no cost at all. Sources: NVIDIA/nccl@5067397 src/tuning (hops, protocols, which
// algorithm exists for which collective); vllm-project/vllm@036bb68 csrc/custom_all_reduce.cuh.
#pragma once

#include "models/cost.hpp"
#include "models/machine.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::models {

// Requires a scale-out level when the ranks span domains (sim/estimate checks the system's size
// first).
Cost collective_cost(const workloads::Collective& op, const Machine& machine);

}  // namespace roofcast::models
