// SPDX-License-Identifier: Apache-2.0
//
// Time of recurrent mixers: Mamba-2's state-space scan, the gated delta rule, and their update in decode.
//
// Scan of prompts, in chunks of Q tokens (the last one padded):
//
//   compute   = FLOP / (rate · occupancy)
//   rate      = min(scan_rate[kind] · fp32 vector peak, rate of a large 16-bit GEMM)
//   CTAs      = sequences · heads             delta rule: a CTA runs through all chunks of its head
//             = sequences · heads · chunks    state space: chunks are independent but for a short pass over states
//   occupancy = CTAs / (waves · SMs)
//   waves     = ⌈CTAs / SMs⌉                  delta rule
//             = max(1, CTAs / SMs)            state space
//   dram      = tokens in and out, states read and written once a sequence
//
// The rate follows the vector units, since the products of a chunk are too small to feed the tensor cores:
// measured rates follow the vector peak from chip to chip.
//
// Update in decode: the state is read and written once, a stream at DRAM rate. Each further token of a
// sequence writes one more state, which is kept until the accepted tokens are known.
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
