// SPDX-License-Identifier: Apache-2.0
//
// Rows of fused experts whose kernel was badly tuned.
//
// A library tries tiles when it starts, and now and then keeps a bad one: with 16 tokens, a rank with an eighth of each
// of 8 experts took 0.28 ms, and one with a quarter of each 0.09 ms (TensorRT-LLM on H200, FP8). Another rank tells such a row: it has at least as
// much of the same layer, routed alike and by the same kernel, and takes less than 1/1.5 of the time. A server tunes again,
// so such rows place no parameter, no correction and no interval. They stay among the rows that errors are told of.
// Of few rows an interval keeps all.
#pragma once

#include <string_view>
#include <vector>

#include "calibrate/operators/operator_rows.hpp"

namespace roofcast::calibrate {

// For each row of a table of the kind "moe"; empty for other kinds.
std::vector<bool> tuning_misses(std::string_view kind, const OperatorRows& rows);

}  // namespace roofcast::calibrate
