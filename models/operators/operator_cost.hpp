// SPDX-License-Identifier: Apache-2.0
//
// The time of any operator: one visit to the model of its kind.
#pragma once

#include "models/cost.hpp"
#include "models/machine.hpp"
#include "models/operators/operator_math.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::models {

// The physical model's cost, and the same with the calibration's correction.
Cost physical_cost_of(const workloads::Operator& op, const Machine& machine);
Cost cost_of(const workloads::Operator& op, const Machine& machine);

}  // namespace roofcast::models
