// SPDX-License-Identifier: Apache-2.0
//
// Time of recurrent mixers: Mamba-2's state-space scan, the gated delta rule, and their decode step.
//
// Scan of prompts, in chunks of Q tokens (the last one padded):
//   compute = FLOP / (rate · occupancy),  rate = scan_rate[kind] · fp32 vector peak, at most that of a
//             large 16-bit GEMM: the products of a chunk are too small to feed the matrix units, and
//             measured rates follow the vector units from chip to chip
//   CTAs    = sequences · heads, and for state-space scans also · chunks, which are independent but
//             for a short pass over their states
//   occupancy = CTAs / (waves · SMs); waves are whole for the delta rule, whose CTAs run through all
//             chunks of their head, else max(1, CTAs / SMs)
//   dram    = tokens in and out, states read and written once a sequence
// Decode step: the state is read and written once (once more for each further token, whose state is
// kept until it is known which is accepted): a stream at DRAM rate.
// Valid for chunks of 64 to 256. Measured on B200 (state space) and five chips (delta rule): sources in
// hardware/calibrated/generic.yaml. Triton kernels of the delta rule
// reach a fifth of the rate of the fused ones, which delta_scan_rate = 1.2 says of a stack that runs them.
#pragma once

#include "models/cost.hpp"
#include "models/machine.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::models {

Cost state_scan_cost(const workloads::StateScan& op, const Machine& machine);
Cost state_update_cost(const workloads::StateUpdate& op, const Machine& machine);

}  // namespace roofcast::models
