// SPDX-License-Identifier: Apache-2.0
//
// Time of recurrent mixers: Mamba-2's state-space scan, the gated delta rule, Mamba-1's selective scan, and their update
// in decode.
//
// Scan of prompts, in chunks of Q tokens (the last one padded):
//
//   compute   = FLOP / (rate · occupancy)
//   rate      = min(scan_rate[kind] · fp32 vector peak, rate of a large 16-bit GEMM)
//             = min(selective_scan_rate · fp32 vector peak, 8 · exponentials a second)   selective scan
//   CTAs      = sequences · heads             delta rule: a CTA runs through all chunks of its head
//             = sequences · channels          selective scan: the same, blocks of tokens in place of chunks
//             = sequences · heads · chunks    state space: chunks are independent but for a short pass over states
//   occupancy = CTAs / (waves · SMs)
//   waves     = ⌈CTAs / SMs⌉                  delta rule
//             = max(1, CTAs / SMs)            state space, selective scan
//   dram      = tokens in and out, states read and written once a sequence
//
// The rate follows the vector units, since the products of a chunk are too small to feed the tensor cores:
// measured rates follow the vector peak from chip to chip.
//
// The selective scan has a decay for each element of the state, so it is no matrix product. It runs on the vector units
// alone, in blocks of 128 to 2,048 tokens (state-spaces/mamba, selective_scan_fwd_kernel.cuh; the last one padded). Nobody
// has measured it in a table: its rate follows from a published ratio to the scan of Mamba-2, and its interval is wide
// (models/uncertainty.cpp).
//
// Update in decode: the state is read and written once, a stream at DRAM rate. Each further token of a
// sequence writes one more state, which is kept until the accepted tokens are known.
//
// An iteration of a model finds its states in memory: the weights of the other layers have replaced them in the L2. A
// benchmark repeats an update on the same states, of which the L2 still holds a share (models/operators/elementwise.hpp):
//
//   l2    = share · bytes / min(L2 rate, 20 · SMs · clock)
//   dram  = (1 − share) · bytes / DRAM rate
//   share = repeated_share(touched)            0 in a model
//
//   touched  B  bytes less those of states that are written in place
//   20       B  an SM and clock: 15 on H100, 19 on H200, 24 on B200; an L40S gets 11, the rate of its L2
//
// On L40S, whose L2 holds 96 MiB, 64 MiB of states take 34 us where 128 MiB take 407; with the others the L2 is hardly
// faster than the memory. A B200, whose L2 is that of two dies, keeps less than this says: benchmarks with 96 and 128 MiB of
// states are forecast 19 and 36 % too short (medians); from 32 MiB on the others are within 5 %.
//
// Valid for chunks of 64 to 256. Measured on B200 (state space) and five chips (delta rule); sources in
// hardware/calibrated/generic.yaml. Triton kernels of the delta rule reach a fifth of the rate of the fused
// ones. A stack that runs them has delta_scan_rate = 1.2.
#pragma once

#include "models/cost.hpp"
#include "models/machine.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::models {

struct Anatomy;  // filled where there is one

Cost state_scan_cost(const workloads::StateScan& op, const Machine& machine,
                     Anatomy* anatomy = nullptr);
Cost state_update_cost(const workloads::StateUpdate& op, const Machine& machine,
                       Anatomy* anatomy = nullptr);

}  // namespace roofcast::models
