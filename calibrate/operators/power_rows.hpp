// SPDX-License-Identifier: Apache-2.0
//
// Rows of gemm_power.csv: the mean power of a chip that repeats one GEMM.
//
// Conventions of the measurements (collector/helper.py and collect_gemm.py, ai-dynamo/aiconfigurator@095f58a):
//   - a row is up to 3000 runs of a graph, about a second of them where that many take longer. A run is one GEMM for
//     each set of weights: TensorRT-LLM as many as fill the L2, at most 5; vLLM 6, of fp8_block and NVFP4 one
//   - the driver's power is sampled each 0.1 s; on Hopper and Blackwell each sample is the mean of the second
//     before it (NVML documentation, nvmlDeviceGetPowerUsage). A row whose runs take less than a second is
//     mostly what was before it, the pause in which the next layer is built, and is not compared
//   - nor are those that such a pause goes before: TensorRT-LLM's of 8192 rows and more, which come
//     first for each set of weights, and its fp8_block and NVFP4 layers, which the host packs
//   - fp8_block rows of vLLM are launched one by one, up to 0.5 ms apart (GB200)
//   - nor a row that draws too little beside its neighbours, the same weights with the next fewer and the next more rows of
//     activations, whose runs take a second:
//
//       watts < 0.75 · min(1, rate / neighbour's rate) · neighbour's watts
//
//     A chip draws static power and energy for each FLOP, so its power cannot fall by more than its rate does. The quarter
//     is for kernels and clocks that differ. H200 with 8192 x 12288 in fp8_block runs at 1.09 PFLOP/s with 16384 rows and
//     with 32768, and reads 681 W and 458 W. Of 38 933 rows this leaves out 1 809:
//
//                            bf16   fp8   fp8_block   nvfp4
//       H200   vLLM            53     –         249       –
//       B200   vLLM           144     –         196      14
//       B200   TensorRT-LLM    51    25           –       –
//       GB200  vLLM           520    87         122     109
//       GB200  TensorRT-LLM   178    61           –       –
//
// Of what is left some rows still read low in that way. Median error at generic parameters: H200 0.9 %, B200 1.3 %, GB200
// 5.2 %; of rows forecast below 97.5 % of the limit 9, 16 and 14 %.
#pragma once

#include <string>

#include "calibrate/operators/operator_rows.hpp"
#include "models/machine.hpp"

namespace roofcast::calibrate {

// Why a row's power says little of its GEMM, or nothing is known to compare; empty otherwise.
std::string reason_against_power(const MeasuredOperator& measured, const models::Machine& machine);

// Mean power of the operators of a row, in watts.
double predicted_w(const MeasuredOperator& measured, const models::Machine& machine);

}  // namespace roofcast::calibrate
