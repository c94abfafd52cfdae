// SPDX-License-Identifier: Apache-2.0
//
// Time of collectives: α–β for each algorithm and protocol, over the two levels of the fabric.
//
//   n   –    ranks                                     S   B    bytes of the operator (workloads/graph/operator.hpp)
//   d   –    scale-up domains that they span           i   –    ranks in each domain
//   i'  –    min(i, 8): ranks in one host              k   –    copies of each row
//   α   s    hop of a level                            B   B/s  port of a rank: datasheet × efficiency
//   L   s    start of the library's kernel             L'  s    more of it when switches reduce
//   l   –    overhead of a protocol, times L           h   –    hop of a protocol, times α
//   w   s    wait of a protocol in a hop across         t   s    more of it in a tree
//   s   –    share of B that a protocol reaches,        c   –    staging_copy
//            on each level
//   η   –    in_network_efficiency, of B               p   –    pat_efficiency, of B
//   e   –    custom_efficiency, of B                   W   B    custom_in_flight
//   x   –    exchange_efficiency, of B                 R   –    rows of one rank
//   D   s    deduplication_overhead                    r(z)  z·(1 − (1 − 1/z)^k): places that k copies reach of z
//
//   time = launch + L·l + L' + hops · (α·h + w + t) + bytes / (s·B)
//
// w and t are of hops across domains. There a proxy on the host posts each message, and in Simple flushes it (h = 2).
// Transfers of the two levels are one pipeline, so the slower of both counts. The library (NCCL) has three
// protocols: LL (a flag in every word), LL128 (a flag in every line) and Simple (fences). c is the last step
// of a ring: a copy out of the staging buffer that no transfer hides. Algorithms without a protocol have
// l = h = s = 1. PAT has those of Simple, and so do the hops of an NVLS tree across domains.
//
//                       hops inside + across      bytes of a rank's port inside | across
//   all-reduce
//     ring             2d(i−1) + 2(d−1)          (2(n−1) + c)/n·S | 2(n−1)/n·S/i   one ring a NIC
//     tree             2(i'−1) + 2⌈log₂⌈i/i'⌉⌉   2S | y·S/i   a chain in a host, double binary trees across,
//                        + 2⌈log₂d⌉              y = min(2, d/2); i' = min(i, 8). That hosts of racks are so across racks is assumed
//     in-switch        2 + 0                     S/η            (+ L')   NVLS
//     in-switch tree   2 + 2⌈log₂d⌉              S/η | y·S/i    (+ L')   NVLS, trees across, of domains of one host
//     in-network       2 + 2                     S/η | S/(i·η)  (+ L')   SHARP across
//   all-gather, reduce-scatter (across first, and last)
//     ring             d(i−1) + (d−1)            (n−1 + c)/n·S | (n−1)/n·S/i
//     PAT              0 + ⌈log₂d⌉               0 | (d−1)/d·S/p          one rank in each domain
//     in-switch        2 + 0                     (n−1)/n·S/η    (+ L')
//   broadcast
//     ring             d(i−1) + (d−1)            S | S/i
//   all-to-all
//     direct           2 + 2                     (i−1+c)/n·S | (n−i)/n·S
//                      and ⌈log₂i⌉−1, ⌈log₂d⌉−1 times α to post the messages. Over rails 3 + 2 and
//                      (i−1+c)/n·S + (d−1)(i−1)/n·S inside: the library hands over to the rank on the rail
//     put              2 + 2                     (i−1)/n·S/x | (n−i)/n·S   and the posts
//                      by the stack's own kernels, which store rows where receivers read them. Staged rows
//                      pass through slots: 15 ns · R more, and 40 ns · R at least
//     deduplicated     1 + 1                     (i−1)/i·r(n)/k·S | (d−1)/d·r(d)/k·S   (+ (1+⌈log₂d⌉)·D)
//                      a row that k ranks want crosses once to each of the r(d) domains that it reaches, on
//                      its rail, and fans out there to r(n) ranks; by kernels on a few SMs, which take
//                      deduplicated_row_clocks for each row and move r(n)/k·S, beyond a domain twice and
//                      once more what leaves, at deduplicated_bytes_per_sm_clock
//   send/receive       1                         S
//
// The library's tree for all-reduce exists where ranks span hosts. Where the switches of a domain cannot
// reduce, in-network moves 2(i−1)/i·S inside at B. In a full mesh B is what the links of the group give
// (FabricLevel::among). Beyond the domain only `put`, and a direct all-to-all where no rails are or ranks
// cannot read each other's memory, leave their rail: data to other positions is sent at off_rail · B.
//
// The stack's own all-reduce works in one domain whose ranks read each other's memory. It takes no L:
//
//   one-shot         4 (barriers), 2 (flags)   (n−1)·S, at most W/α from each peer with barriers
//   two-shot         8                         2(n−1)/n·S, at most W/α with barriers
//   multimem         8, with barriers          S/η in a switch that reduces
//
// It moves bytes at e·B, and those of an exchange at custom_nic_efficiency of the NIC; kernels with barriers exist for
// up to 8 ranks. The fastest algorithm is taken, as NCCL does by its own estimates. The cost names it and the runner-up.
// One rank has no cost at all. Sources:
// NVIDIA/nccl@5067397 src/tuning (hops, protocols, which algorithm exists for which collective), src/include/device.h
// (ncclNvlsSupported: switches do not add int8);
// NVIDIA/nccl@b647562 src/graph/search.cc (PXN for all that it can, as NCCL_P2P_PXN_LEVEL is 2), src/graph/tuning.cc (what proxies add; trees of two hosts at the rate of one crossing; no NVLS
// tree where a domain is several hosts). Checked on six logs of nccl-tests over two hosts (four in tests/measured_logs):
// median error 14 %; rings of A100 are taken there where this model takes a tree, 18 % faster.
// vllm-project/vllm@036bb68 csrc/custom_all_reduce.cuh.
#pragma once

#include "models/cost.hpp"
#include "models/machine.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::models {

struct Anatomy;  // filled where there is one

// Ranks that span domains need a scale-out level; sim/estimate checks the size of the system first.
Cost collective_cost(const workloads::Collective& op, const Machine& machine,
                     Anatomy* anatomy = nullptr);

// What any algorithm must move through the ports of one rank, with switches that reduce where there are some.
struct PortBytes {
  base::Bytes link;
  base::Bytes nic;
};
PortBytes least_port_bytes(const workloads::Collective& op, const Machine& machine);

}  // namespace roofcast::models
