// SPDX-License-Identifier: Apache-2.0
//
// The time of any operator: calls the model of its kind.
#pragma once

#include "models/cost.hpp"
#include "models/machine.hpp"
#include "models/operators/operator_math.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::models {

struct Anatomy;  // models/operators/anatomy.hpp, filled where there is one

// The cost of the physical model alone.
Cost physical_cost_of(const workloads::Operator& op, const Machine& machine,
                      Anatomy* anatomy = nullptr);
// The same with the correction of the calibration (models/operators/correction.hpp).
Cost cost_of(const workloads::Operator& op, const Machine& machine);

}  // namespace roofcast::models
