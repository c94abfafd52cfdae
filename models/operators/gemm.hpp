// SPDX-License-Identifier: Apache-2.0
//
// Time of a GEMM.
//
// A kernel cuts the output [m,n] into tiles bm × bn. When the tiles are too few to fill the chip, it also
// cuts the depth k into `split` parts. CTAs = ⌈m/bm⌉·⌈n/bn⌉·batch·split run on `sms` processors in waves =
// CTAs/sms. `wave_tail` of the idle part of the last wave is lost (1 = plain tiles, 0 = stream-K).
//
//   compute = waves · max(2·bm·bn·(k/split) / (tensor rate / sms),
//                         step_trips · DRAM latency · (k/split) bytes / 128)
//             + waves · bn·(k/split) / (widened_per_sm_clock · bits/4 · clock)     weight-only formats
//             + absent · ⌈n/bn⌉ · k·a · absent_row_reads / L2 rate                 fixed tiles
//   l2      = waves · (bm·a + bn·w)·(k/split) / (l2_sharing · L2 rate / sharers)
//             + split-K partial sums, 8 bytes each, / L2 rate
//   dram    = compulsory bytes / min(streaming rate, bytes in flight / latency)
//   fill    = fill_trips · DRAM latency
//             + (waves − 1) · wave_trips · DRAM latency        one tile drains, the next one fills
//             + waves · epilogue_passes · bm·bn outputs / (L2 rate / sharers)
//             + split_trips · DRAM latency                     when split: the sum is a second kernel
//
//   a, w             B      one element of the activations and of the weights
//   k                –      padded to 64
//   sharers          –      SMs of the chip that was measured: a wave with fewer CTAs loads no faster each. More, where a
//                           chip has more and they have CTAs
//   absent           –      rows that tiles reach beyond m
//   (k/split) bytes  B      depth of a tile in the wider operand; 128 bytes are one step of the main loop
//   step_trips, …    –      parameters of the calibration, in DRAM latencies (hardware/calibration.hpp)
//   bytes in flight  B      of the CTAs that read different bytes (Little's law)
//
// The fastest of the tile shapes that a vendor library would try is taken, and so more rows take no less time. Kernels with
// fixed tiles (fixed_tiles.hpp) try none: with more rows fewer may be absent. An absent row is loaded as zeros. That costs 2.5
// to 3.1 reads of a row from the L2 on H100 and H200 under both stacks, each fitted alone, and shows where products take the
// time, not where the memory does: at n 7168, k 8192 on H200, 45 us with 129 rows, 33 us with 256. Formats with block scales are not
// split (DeepGEMM, CUTLASS). Kernels of 128×128 scales add them up outside the tensor cores and reach
// block_scaling_efficiency of the fp8 rate. Valid for k ≥ 64; smaller k is timed as 64.
//
// Where the SM has no room for that tile (models/tile_room.hpp), the fastest of those that fit is taken, and it is never
// faster than the library's own: the rest of the time of that one counts as what kernels stay below.
//
// Weights in fewer bits than the activations are widened by the vector units of the SM before they are multiplied. Most
// of it hides behind the products; widened_per_sm_clock is the rate of what does not. It was fitted to int4 and int8
// weights on A100, where bf16 is 2 to 7 % and 0 to 3 % faster from 256 rows on. 2:4 sparse weights have half of the
// products, half of the bytes and 2 bits more for each kept element; the tensor rate is `sparsity` of the chip times
// sparse_efficiency (at least 1) times the dense one.
//
// In the loop of a benchmark (Gemm::copies) nothing comes from DRAM while 0.8 of the L2 holds all of it:
// measured rates fall to DRAM's at 80 to 110 % of the L2 on H100, H200 and L40S. Median error of each format,
// chip and stack in ai-dynamo/aiconfigurator@095f58a: 6 to 22 % (L40S in fp8_block 30 %), at generic
// parameters.
#pragma once

#include <string>

#include "models/cost.hpp"
#include "models/machine.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::models {

struct Anatomy;  // filled where there is one

struct Tiling;

// `cut` is the tiling to take in place of the fastest one; its tiles are counted here.
Cost gemm_cost(const workloads::Gemm& op, const Machine& machine, Anatomy* anatomy = nullptr,
               const Tiling* cut = nullptr);

// Why no kernel cuts the product so; empty where one does.
std::string fault_of(const workloads::Gemm& op, const Tiling& cut, const Machine& machine);

}  // namespace roofcast::models
