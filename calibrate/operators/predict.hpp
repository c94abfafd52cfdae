// SPDX-License-Identifier: Apache-2.0
//
// The forecast of one measured row.
#pragma once

#include <limits>
#include <string_view>

#include "calibrate/operators/operator_rows.hpp"
#include "calibrate/platforms/chip_platforms.hpp"
#include "models/machine.hpp"

namespace roofcast::calibrate {

// Why a machine cannot run a row, or the row's own reason; empty when it can.
std::string reason_against(const MeasuredOperator& measured, const models::Machine& machine);

// Whether the kernels of a table's rows are those of a serving stack. NCCL's are the same under every
// stack; DeepEP's, measured with SGLang, under all but TensorRT-LLM, which has its own.
bool has_kernels_of(std::string_view kind, std::string_view row_stack, std::string_view stack);

// The stack whose rows tell how long kernels of a serving stack take, which its servers tune and its own table did not.
// TensorRT-LLM chooses tile and library of a product in NVFP4 when a server starts, CuTe DSL's among them
// (tensorrt_llm/_torch/custom_ops, NVFP4GemmUnifiedRunner), and falls back on one tile where nothing was tuned. The table
// was taken without (collector/trtllm/collect_gemm.py has no autotune(), that of experts has), and shows it: 128 x 256 at
// any shape, twice the time at 4 rows. vLLM's rows are of CuTe DSL. Empty: there is none.
std::string_view tuned_like(std::string_view kind, std::string_view format, std::string_view stack);

// How far, in logarithms, such a kernel is from its untuned one to the other stack's. Images of 2025 tuned CUTLASS alone.
// Fitted to 54 servers of Llama-3.1-70B on B200, which agree on it from one to eight ranks: at 0 their TPOT is 17 % long, at
// 1 it is 9 % short.
inline constexpr float kTunedShare = 0.55F;

// The platform whose kernels those of a row are, in their version where the stack is the row's. nullptr where the catalog
// has none.
const sim::Platform* platform_of(const MeasuredOperator& row, std::string_view kind,
                                 ChipPlatforms& platforms);

// The kind whose error a row's forecast has: that of its table, but of launches where it waits for a host that was not
// measured, and of models::error_kind where a collective leaves the scale-up domain.
std::string_view error_kind(const MeasuredOperator& measured, std::string_view kind,
                            const models::Machine& machine);

// The 90 % interval of a prediction of this kind, from the errors of the calibration; NaN where it tells none.
struct Interval {
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();
};
Interval interval(double predicted, std::string_view kind,
                  const hardware::Calibration& calibration);

// How long the host that launches the row's operators one by one takes; 0 in a CUDA graph.
double host_s(const MeasuredOperator& measured, const models::Machine& machine);

// Of a row that has no reason against it.
double predicted_s(const MeasuredOperator& measured, const models::Machine& machine);

// What a row is compared in: watts where it is of power, else seconds.
double measured(const MeasuredOperator& row);
double predicted(const MeasuredOperator& row, const models::Machine& machine);

}  // namespace roofcast::calibrate
