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
// Of what is left every tenth to fourth row still reads low in that way. Median error at generic parameters: H200
// 0.9 %, B200 1.4 %, GB200 4.9 %; of rows forecast below the limit 8.5, 11.9 and 12.0 %.
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
