// SPDX-License-Identifier: Apache-2.0
#include "calibrate/operators/power_rows.hpp"

#include <algorithm>
#include <cmath>

#include "models/operators/operator_cost.hpp"
#include "models/power.hpp"

namespace roofcast::calibrate {
namespace {

constexpr double kMostRuns = 3000;
constexpr double kSensorSecond = 1.0;
constexpr std::int64_t kFirstRows = 8192;
constexpr double kHostPace = 0.6e-3;  // seconds

// Sets of weights in a run.
double weights_of(const MeasuredOperator& measured, const workloads::Gemm& gemm,
                  const models::Machine& machine) {
  const auto copies = static_cast<double>(gemm.copies);
  if (measured.stack == "vllm") {
    return copies;
  }
  const base::Bytes one = static_cast<double>(gemm.n * gemm.k) *
                          std::floor(base::bits(gemm.weights)) / 8.0 * base::byte;
  return std::clamp(std::ceil(machine.l2_capacity / one), 1.0, std::max(1.0, copies));
}

}  // namespace

std::string reason_against_power(const MeasuredOperator& measured, const models::Machine& machine) {
  if (!machine.power.known()) {
    return measured.chip + " has no published TDP";
  }
  const auto& gemm = std::get<workloads::Gemm>(measured.operators.back());
  const bool sustained = measured.stack == kBench;  // for 3 s, whatever the shape
  if (!sustained &&
      kMostRuns * weights_of(measured, gemm, machine) * measured.measured_s < kSensorSecond) {
    return "runs of less than the second that the power sensor averages";
  }
  if (measured.stack == "vllm" && measured.format == "fp8_block" &&
      measured.measured_s < kHostPace) {
    return "timed at the pace of the host that launches it";
  }
  const bool packed = measured.format == "fp8_block" || measured.format == "nvfp4";
  if (measured.stack == "trtllm" && (packed || gemm.m >= kFirstRows)) {
    return "the power sensor averages the pause before it";
  }
  return {};
}

double predicted_w(const MeasuredOperator& measured, const models::Machine& machine) {
  models::Activity activity;
  activity.running = base::Seconds::from_si(measured.overhead_s);
  for (const workloads::Operator& op : measured.operators) {
    const models::Cost cost = models::cost_of(op, machine);
    activity.add(cost, models::math_of(op, machine), 1.0, cost.time, machine);
  }
  return models::drawn(activity, machine.power).power().si();
}

}  // namespace roofcast::calibrate
