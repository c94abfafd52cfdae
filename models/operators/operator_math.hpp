// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/units/number_format.hpp"
#include "models/machine.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::models {

// The multiplier the operator needs and the chip must have; fp32 for operators that multiply
// nothing.
base::MathType math_of(const workloads::Operator& op, const Machine& machine);

}  // namespace roofcast::models
