// SPDX-License-Identifier: Apache-2.0
#include "calibrate/predict.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/operator_cost.hpp"

namespace roofcast::calibrate {

std::string reason_against(const MeasuredOperator& measured, const models::Machine& machine) {
  if (!measured.reason.empty()) {
    return measured.reason;
  }
  for (const workloads::Operator& op : measured.operators) {
    const base::MathType math = models::math_of(op, machine);
    if (!machine.supports(math)) {
      return fmt::format("{} has no {} tensor rate", measured.chip, base::name(math));
    }
  }
  return {};
}

double predicted_s(const MeasuredOperator& measured, const models::Machine& machine) {
  double seconds = measured.overhead_s;
  for (const workloads::Operator& op : measured.operators) {
    seconds += models::cost_of(op, machine).time / base::second;
  }
  return measured.eager ? std::max(seconds, machine.calibration.eager_launch / base::second)
                        : seconds;
}

}  // namespace roofcast::calibrate
