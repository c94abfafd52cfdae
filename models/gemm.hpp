// SPDX-License-Identifier: Apache-2.0
//
// Time of a GEMM, and of the grouped GEMM of a mixture of experts.
//
// A kernel cuts the output [m,n] into tiles bm × bn and, when tiles are too few to fill the chip,
// the depth k into `split` parts. CTAs = ⌈m/bm⌉·⌈n/bn⌉·batch·split run on `sms` processors in
// waves = CTAs/sms, a partial last wave costing `wave_tail` of a whole one (1 = plain tiles,
// 0 = stream-K).
//   compute = waves · 2·bm·bn·(k/split) / (tensor rate / sms)         k padded to 64
//   l2      = waves · (bm·a + bn·w)·(k/split) bytes / (L2 rate / sms)  + split-K partial sums
//   dram    = compulsory bytes / min(streaming rate, bytes in flight / latency)      (Little's law)
//   fill    = fill_trips · DRAM latency
// The best of the tile shapes a vendor library would try is taken. Valid for k ≥ 64; smaller k is
// timed as 64. Measured floors and tile steps: notes in hardware/calibrated/generic.yaml. No
// measurement has been fitted yet, so errors are those of the round default parameters.
//
// Grouped GEMM: the same terms with ⌈rows/bm⌉ tiles for each distinct expert (rows = pairs /
// distinct on average, half a tile lost to the ragged end), at `grouped_gemm_efficiency` of the
// tensor rate.
#pragma once

#include "models/cost.hpp"
#include "models/machine.hpp"
#include "workloads/operator.hpp"

namespace roofcast::models {

Cost gemm_cost(const workloads::Gemm& op, const Machine& machine);
Cost grouped_gemm_cost(const workloads::GroupedGemm& op, const Machine& machine);

}  // namespace roofcast::models
