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

// The platform whose kernels those of a row are, in their version where the stack is the row's. nullptr where the catalog
// has none.
const sim::Platform* platform_of(const MeasuredOperator& row, std::string_view kind,
                                 ChipPlatforms& platforms);

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
