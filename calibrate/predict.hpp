// SPDX-License-Identifier: Apache-2.0
//
// The forecast of one measured row.
#pragma once

#include "calibrate/operator_rows.hpp"
#include "models/machine.hpp"

namespace roofcast::calibrate {

// Why a machine cannot run a row, or the row's own reason; empty when it can.
std::string reason_against(const MeasuredOperator& measured, const models::Machine& machine);

// Of a row that has no reason against it.
double predicted_s(const MeasuredOperator& measured, const models::Machine& machine);

}  // namespace roofcast::calibrate
